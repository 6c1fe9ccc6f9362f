import CourierCore
import MQTTCodec

@testable import CourierMQTT

/// Two clients with the same client id at a broker of MQTT 3.1.1. The broker closes the connection of one client when
/// the other client connects [MQTT-3.1.4-2]. The clients share one virtual time.
struct TakeoverFight {
    /// The time that a connection attempt takes.
    private static let latency = 0.05

    private(set) var clients: [SupervisorHarness]
    /// The number of connections that the broker closed because of the other client.
    private(set) var evictionCount = 0

    /// Creates two clients that have had `failedAttempts` failed attempts each. The second client connects `lead`
    /// seconds after the first.
    init(
        seed: UInt64, lead: Double, failedAttempts: Int, _ change: (inout SupervisorConfiguration) -> Void
    ) {
        clients = [SupervisorHarness(seed: seed, change), SupervisorHarness(seed: ~seed, change)]
        for index in clients.indices {
            clients[index].handle(.connectRequested(source: "test"))
            clients[index].grant()
            for _ in 0..<failedAttempts {
                clients[index].drop()
                clients[index].fireTimer()
            }
        }
        let begin = clients.map(\.time).max() ?? 0
        pass(until: begin)
        arrive(0)
        pass(until: begin + lead)
        arrive(1)
    }

    var time: Double { clients[0].time }

    /// The error for callers that wait for a connection, if one of the clients has such an error.
    var verdict: CourierError? {
        for client in clients {
            guard case .failed(.error(let error)) = client.supervisor.waiterAnswer else { continue }
            return error
        }
        return nil
    }

    /// Lets the disconnected client connect again, if its next attempt begins before `end`.
    mutating func takeTurn(before end: Double = .infinity) -> Bool {
        guard let index = clients.indices.first(where: { !clients[$0].isOpen }), let due = clients[index].deadline,
            due < end
        else { return false }
        clients[index].fireTimer()
        pass(until: clients[index].time)
        arrive(index)
        return true
    }

    private mutating func pass(until time: Double) {
        for index in clients.indices { clients[index].wait(max(0, time - clients[index].time)) }
    }

    private mutating func arrive(_ index: Int) {
        pass(until: time + Self.latency)
        clients[index].accept(.v311)
        let other = 1 - index
        guard clients[other].supervisor.state == .connected else { return }
        evictionCount += 1
        clients[other].drop()
    }
}
