import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine

/// Runs the adaptive keep-alive. The state of the keep-alive changes when its timer fires, when a PINGRESP arrives, and
/// when a connection begins or ends. Other packets do not change it.
extension ClientCoordinator {
    func keepAliveBegan(_ connAck: ConnAck) {
        let announced = connAck.properties.serverKeepAlive ?? wantedKeepAlive  // [MQTT-3.1.2-21]
        let network = settings.keepAlive?.network() ?? ""
        askKeepAlive {
            $0.connected(
                over: network, keepAlive: announced == 0 ? nil : .seconds(Int64(announced)), now: loop.now,
                date: Date())
        }
    }

    func keepAliveAnswered() { askKeepAlive { $0.pongReceived(now: loop.now, date: Date()) } }

    /// Reports that the network was down, the machine was suspended, or reading was paused. If the connection is lost
    /// during the present idle time, the ping interval does not count as the cause.
    func keepAliveDisturbed() { keepAlive?.disturbed(now: loop.now) }

    /// Reports that an attempt to connect has failed, at any step.
    func keepAliveAttemptFailed() { keepAlive?.attemptFailed() }

    func keepAliveEnded(_ reason: CloseReason) {
        let silence: KeepAliveSearch.Silence? =
            switch reason {
            case .transportClosed, .pingTimeout, .acknowledgementTimeout: supervisor.liveness.silence(now: loop.now)
            case .refused, .versionNotSupported, .malformedConnect, .connectTimeout, .disconnectedByServer,
                .malformedPacket, .protocolError, .requested:
                nil
            }
        askKeepAlive {
            $0.closed(silence, date: Date())
            return .none
        }
    }

    private func askKeepAlive(_ question: (inout KeepAliveSearch) -> KeepAliveSearch.Action) {
        guard var search = keepAlive else { return }
        let interval = search.interval
        let action = question(&search)
        keepAlive = search
        switch action {
        case .none: break
        case .ping: driver.ping()
        case .remember: settings.keepAlive?.memoryChanged?(search.memory)
        }
        if search.interval != interval || action == .remember { logKeepAlive(search) }
        setKeepAliveTimer()
    }

    private func setKeepAliveTimer() {
        let deadline = keepAlive?.deadline
        if let timer = keepAliveTimer {
            guard deadline != timer.deadline else { return }
            loop.cancel(timer.token)
            keepAliveTimer = nil
        }
        guard let deadline else { return }
        let token = loop.schedule(at: deadline) { [weak self] in
            guard let self else { return }
            keepAliveTimer = nil
            let lastActivity = driver.isReadingPaused ? nil : supervisor.liveness.lastActivity
            askKeepAlive { $0.timerFired(lastActivity: lastActivity, now: loop.now) }
        }
        keepAliveTimer = (token, deadline)
    }

    private func logKeepAlive(_ search: KeepAliveSearch) {
        let failed =
            search.memory[search.network]?.failedInterval.map { "; an interval of \($0) is too long for this network" }
            ?? ""
        settings.log.log(
            .info, source: "keep-alive", clientID: info?.clientId,
            "the client pings after \(search.interval) of silence\(failed)")
    }
}
