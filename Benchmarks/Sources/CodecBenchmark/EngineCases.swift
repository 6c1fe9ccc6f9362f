import BenchmarkKit
import MQTTCodec
import MQTTEngine

/// Returns the cases for the engine alone, without sockets. They publish and receive messages, including all
/// acknowledgements.
func engineCases() throws -> [Case] {
    var cases: [Case] = []
    for version in [ProtocolVersion.v311, .v5] {
        for qos in PacketQoS.allCases {
            let name = "\(version), QoS \(qos.rawValue)"
            let sender = try EngineCase(version)
            cases.append(
                Case(
                    name: "engine publishes 64 B, \(name)", allowedAllocations: 0,
                    courier: { sender.publish($0, qos) }, paho: nil, bytes: EngineRun.payload))
            let receiver = try EngineCase(version)
            cases.append(
                Case(
                    name: "engine receives 64 B, \(name)", allowedAllocations: 0,
                    courier: { receiver.receive($0, qos) }, paho: nil, bytes: EngineRun.payload))
        }
    }
    return cases
}

/// Keeps the engine between samples, so that only the first sample has to grow its memory.
private final class EngineCase {
    private var run: EngineRun
    init(_ version: ProtocolVersion) throws { run = try EngineRun(version) }
    func publish(_ rounds: Int, _ qos: PacketQoS) { run.publish(rounds, qos) }
    func receive(_ rounds: Int, _ qos: PacketQoS) { run.receive(rounds, qos) }
}

/// An engine and a simulated server that accepts everything.
private struct EngineRun: ~Copyable {
    static let payload = [UInt8](repeating: 0x61, count: 64)
    private static let window = 100

    private var engine: ClientEngine
    private var buffer = PacketBuffer()
    private var incoming = PacketBuffer()
    private var actions = ActionList()
    private var ids: [PacketID] = []
    private let topic = "sensors/room-7/temperature"
    private let server: PacketEncoder
    private let now = ContinuousClock.now

    init(_ version: ProtocolVersion) throws {
        server = PacketEncoder(version: version, sender: .server)
        engine = ClientEngine(EngineConfiguration(connect: Connect(version: version, clientID: "b")))
        engine.transportOpened(now: now, into: &buffer, &actions)
        try server.encode(.connAck(ConnAck()), into: &incoming)
        take()
    }

    mutating func publish(_ rounds: Int, _ qos: PacketQoS) {
        let payload = Self.payload
        for _ in 0..<(rounds / Self.window) {
            for number in 0..<Self.window {
                let message = OutgoingMessage(
                    topic: topic, payload: payload, qos: qos, token: Token(rawValue: UInt64(number)))
                engine.publish(message, now: now, into: &buffer, &actions)
            }
            guard qos != .atMostOnce else {
                forget()
                continue
            }
            // The list of actions contains the packet id of each message that was just sent, so `answer` can
            // acknowledge them.
            answer(qos == .exactlyOnce ? .pubRec : .pubAck)
            take()
            if qos == .exactlyOnce {
                acknowledgeAll(.pubComp)
                take()
            }
        }
        keep(engine.inFlightCount)
        precondition(engine.inFlightCount == 0, "not every message was acknowledged")
    }

    mutating func receive(_ rounds: Int, _ qos: PacketQoS) {
        let payload = Self.payload
        for _ in 0..<(rounds / Self.window) {
            for number in 1...UInt16(Self.window) {
                guard let delivery = Delivery(qos: qos, packetID: PacketID(rawValue: number)) else { return }
                try? server.encodePublish(
                    topic: topic, payload: payload.span.bytes, delivery: delivery, into: &incoming)
            }
            take()
            if qos == .exactlyOnce {
                for number in 1...UInt16(Self.window) {
                    if let id = PacketID(rawValue: number) { server.encodeSuccess(.pubRel, id, into: &incoming) }
                }
                take()
            }
        }
        precondition(engine.isConnected, "the engine closed")
    }

    /// Acknowledges the messages that the engine has just sent.
    private mutating func answer(_ type: PacketType) {
        ids.removeAll(keepingCapacity: true)
        for entry in actions.entries { if case .progress(.sent(_, let id)) = entry { ids.append(id) } }
        forget()
        acknowledgeAll(type)
    }

    private mutating func acknowledgeAll(_ type: PacketType) {
        for id in ids { server.encodeSuccess(type, id, into: &incoming) }
    }

    /// Passes all bytes that the server wrote to the engine.
    private mutating func take() {
        while !incoming.isEmpty {
            let taken = Self.give(incoming, to: &engine, now, &buffer, &actions)
            precondition(taken > 0, "the engine does not go on")
            incoming.removeFirst(taken)
            forget()
        }
    }

    private static func give(
        _ incoming: borrowing PacketBuffer, to engine: inout ClientEngine, _ now: ContinuousClock.Instant,
        _ buffer: inout PacketBuffer, _ actions: inout ActionList
    ) -> Int {
        incoming.withBytes { engine.received($0, now: now, into: &buffer, &actions) }
    }

    private mutating func forget() {
        actions.removeAll()
        buffer.removeAll()
    }
}
