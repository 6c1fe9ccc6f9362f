import CourierCore
import MQTTCodec

@testable import CourierMQTT

/// Two clients with one id at a broker of MQTT 3.1.1, which closes the connection of the one when the other comes
/// [MQTT-3.1.4-2]. Time is that of the clients.
struct TakeoverFight {
    /// How long the way to the broker takes.
    private static let latency = 0.05

    private(set) var clients: [SupervisorHarness]
    /// How often either was thrown out.
    private(set) var evictionCount = 0

    /// Begins when the one client has been connected for `lead` seconds and the other comes; both had so many attempts
    /// that failed before.
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

    /// What those who wait for the connection of a client are told that has yielded, if one has.
    var verdict: CourierError? {
        for client in clients {
            guard case .failed(.error(let error)) = client.supervisor.waiterAnswer else { continue }
            return error
        }
        return nil
    }

    /// Lets the client that was thrown out come back, if that is before `end`.
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
