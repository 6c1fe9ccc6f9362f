import CourierCore
import CourierTesting
import MQTTCodec
import Testing

@testable import CourierMQTT

/// Options of the app that are independent of the tested rule. The rules for outgoing messages must hold in every
/// setup.
struct OutgoingSetup: Sendable, CustomTestStringConvertible {
    /// The receive maximum of CONNACK in these tests.
    static let receiveMaximum = 20

    static let all = [false, true].flatMap { isListening in
        [false, true].flatMap { hasStore in
            [false, true].map { OutgoingSetup(isListening: isListening, hasStore: hasStore, hasProperties: $0) }
        }
    }
    static let withStore = all.filter { $0.hasStore }

    /// Whether the app receives the client's events.
    let isListening: Bool
    /// Whether the client has a message store.
    let hasStore: Bool
    /// Whether each message has a user property.
    let hasProperties: Bool

    var testDescription: String {
        let parts = [isListening ? "events" : nil, hasStore ? "store" : nil, hasProperties ? "properties" : nil]
        return parts.contains { $0 != nil } ? parts.compactMap { $0 }.joined(separator: ", ") : "plain"
    }

    /// The properties of each message; `expiry` is its message expiry interval.
    func properties(expiry: Duration? = nil) -> MessageProperties {
        MessageProperties(
            messageExpiry: expiry, userProperties: hasProperties ? [MessageProperties.UserProperty("k", "v")] : [])
    }

    // MARK: Worlds

    /// Runs `body` with a connected client. The broker grants ``receiveMaximum`` messages in flight, and acknowledges
    /// nothing until `body` releases the gate.
    func connected(
        _ policy: OfflinePolicy, store: ControlledStore = ControlledStore(), then: [ConnectionScript] = [],
        _ body: (ScriptedWorld, ScriptGate) async throws -> Void
    ) async throws {
        let gate = ScriptGate()
        let script = ConnectionScript.connection([Self.accept(), .hold(gate)])
        try await run([script] + then, policy, store) { world in
            await world.connect()
            await world.soon { world.client.connectionState == .connected }
            // From now on, the client changes the store only for new messages.
            if hasStore { await world.soon { store.changes.contains(.forgetAllPacketIDs) } }
            try await body(world, gate)
        }
    }

    /// Runs `body` with a client whose first attempt to connect was refused. It connects again after a second.
    func offline(
        _ policy: OfflinePolicy, store: ControlledStore = ControlledStore(),
        _ body: (ScriptedWorld) async throws -> Void
    ) async throws {
        try await run([.connection([.refuse(.serverUnavailable)])], policy, store) { world in
            await world.connect()
            try await world.broker.endOfConnection(1)
            await world.settle()
            try await body(world)
        }
    }

    /// Runs `body` with a client that has not connected yet.
    func run(
        _ script: [ConnectionScript], _ policy: OfflinePolicy, _ store: ControlledStore = ControlledStore(),
        _ body: (ScriptedWorld) async throws -> Void
    ) async throws {
        try await ScriptedWorld.run(script) {
            $0.offline = policy
            $0.session.acknowledgementTimeout = nil
            // Otherwise, the client sends one message at a time after a lost connection.
            $0.session.rejectsHarmfulMessages = false
            if hasStore { $0.messageStore = store }
        } _: { world in
            let handler = SilentHandler()
            if isListening { world.client.addEventHandler(handler) } else { world.test.stopListening() }
            try await body(world)
        }
    }

    /// The event handler of the reference article, without its own work.
    private final class SilentHandler: ICourierEventHandler {
        func onEvent(_: CourierEvent) {}
    }

    /// CONNACK with a receive maximum.
    static func accept(isSessionPresent: Bool = false, receiveMaximum: Int = receiveMaximum) -> ScriptStep {
        .accept(isSessionPresent: isSessionPresent, properties: [.receiveMaximum(UInt16(receiveMaximum))])
    }
}

extension ScriptedWorld {
    /// Waits for the message store and for other tasks. A client may gather messages for a commit, so up to 50 ms of virtual
    /// time pass.
    func soon(sourceLocation: SourceLocation = #_sourceLocation, _ condition: () async -> Bool) async {
        for _ in 0..<50 {
            await settle()
            if await condition() { return }
            await run(for: .milliseconds(1))
        }
        await until(sourceLocation: sourceLocation, condition)
    }
}
