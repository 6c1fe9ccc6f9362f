import CourierTesting
import CourierTransport
import Foundation
import MQTTCodec
import Synchronization

/// What a room needs, on free ports of 127.0.0.1: a token service over HTTP, and a broker that wants a token of it.
final class Server: Sendable {
    let brokerPort: UInt16
    let tokenURL: String
    private let broker: LoopbackBroker
    private let loop: EventLoop

    /// Starts both. `tell` takes what happens, on any thread.
    init(_ office: TokenOffice, tell: @escaping @Sendable (String) -> Void) throws {
        let loop = try EventLoop(name: "server")
        let door = Door(office, loop, tell)
        var rules = BrokerConfiguration()
        rules.authentication = .check { door.refusal($0) }
        let broker = try LoopbackBroker.start(configuration: rules)
        door.open(broker)
        let desk = try ChannelListener.listen(loop: loop) {
            TokenDesk($0, office, brokerPort: broker.port, tell: tell)
        }
        (self.broker, self.loop) = (broker, loop)
        brokerPort = broker.port
        tokenURL = "http://127.0.0.1:\(desk.port)/token"
    }

    func stop() async {
        await loop.shutdown()
        await broker.shutdown()
    }
}

/// Lets in who has a good token, and shows out whose token has ended.
private final class Door: Sendable {
    private struct State {
        weak var broker: LoopbackBroker?
        /// Until when each client may stay.
        var ends: [String: ContinuousClock.Instant] = [:]
    }

    private let office: TokenOffice
    private let loop: EventLoop
    private let tell: @Sendable (String) -> Void
    private let state = Mutex(State())

    init(_ office: TokenOffice, _ loop: EventLoop, _ tell: @escaping @Sendable (String) -> Void) {
        self.office = office
        self.loop = loop
        self.tell = tell
    }

    func open(_ broker: LoopbackBroker) { state.withLock { $0.broker = broker } }

    func refusal(_ connect: Connect) -> PacketReasonCode? {
        let (id, name) = (connect.clientID, connect.username ?? "")
        let token = String(decoding: connect.password?.bytes ?? [], as: UTF8.self)
        guard let end = office.end(of: token, for: name) else {
            tell("refuses \(id.debugDescription), who has no good token")
            return .notAuthorized
        }
        tell("lets \(name) in")
        state.withLock { $0.ends[id] = end }
        loop.execute { [self] in loop.schedule(at: end) { [self] in showOut(id, name) } }
        return nil
    }

    private func showOut(_ id: String, _ name: String) {
        let broker = state.withLock { state -> LoopbackBroker? in
            // Who came with a newer token meanwhile may stay.
            guard let end = state.ends[id], end <= .now else { return nil }
            state.ends[id] = nil
            return state.broker
        }
        guard let broker else { return }
        tell("shows \(name) out, whose token has ended")
        broker.disconnect(id, reasonCode: .notAuthorized)
    }
}
