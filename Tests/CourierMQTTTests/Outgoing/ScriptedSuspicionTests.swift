import CourierCore
import CourierTesting
import Foundation
import MQTTCodec
import Testing

@testable import CourierMQTT

/// Messages at which the broker ends connections, through the public API. ``MessageSuspicionTests`` has each rule alone.
///
/// The broker ends the connection when a message to `large` arrives.
@Suite(.timeLimit(.minutes(5))) struct ScriptedSuspicionTests {
    /// The QoS of the message, and the session of the broker.
    struct Session: Sendable, CustomTestStringConvertible {
        let qos: QoS
        /// Whether the broker keeps the session between connections.
        let isKept: Bool

        static let all = [QoS.one, .two].flatMap { qos in [false, true].map { Session(qos: qos, isKept: $0) } }

        var testDescription: String { "\(qos), \(isKept ? "session kept" : "session lost")" }
        var accept: ScriptStep { .accept(isSessionPresent: isKept) }
    }

    typealias Outcome = Box<Result<PublishReceipt, CourierError>>

    static let plain = OutgoingSetup(isListening: true, hasStore: false, hasProperties: false)

    /// Serves until a message to `large` arrives, and closes the connection.
    static func closing(_ accept: ScriptStep = .accept()) -> [ScriptStep] {
        [accept, .serve(until: .publish(to: "large")), .cut(.orderly)]
    }

    static func run(
        _ setup: OutgoingSetup = plain, _ script: [ConnectionScript] = [], afterwards: [ScriptStep],
        over way: ScriptedWorld.Way = .memory(), store: ControlledStore = ControlledStore(),
        _ change: (inout MQTTClientConfig) -> Void = { _ in },
        _ body: (ScriptedWorld) async throws -> Void
    ) async throws {
        try await ScriptedWorld.run(script, afterwards: afterwards, over: way, isScriptChecked: false) {
            $0.protocolVersion = setup.hasProperties ? .version5 : .version311
            if setup.hasStore { $0.messageStore = store }
            change(&$0)
        } _: { world in
            if !setup.isListening { world.test.stopListening() }
            try await body(world)
        }
    }

    /// Publishes without waiting.
    static func publish(
        _ world: ScriptedWorld, _ payload: Data = Data([7]), to topic: String, _ qos: QoS = .one,
        _ setup: OutgoingSetup = plain
    ) throws -> Outcome {
        let outcome = Outcome()
        try world.client.publish(data: payload, to: topic, qos: qos, properties: setup.properties()) {
            outcome.value = $0
        }
        return outcome
    }

    /// Publishes to `large` and to `small`, so that both are in flight when the first connection ends.
    static func publishBoth(
        _ world: ScriptedWorld, _ gate: ScriptGate, _ qos: QoS = .one, _ setup: OutgoingSetup = plain,
        payload: Data = Data([7])
    ) async throws -> (large: Outcome, small: Outcome) {
        await world.connect()
        let outcomes = (
            try publish(world, payload, to: "large", qos, setup), try publish(world, to: "small", qos, setup)
        )
        await world.soon { await world.publishes(on: 1).count == 2 }
        gate.release()
        return outcomes
    }

    // MARK: The rule

    @Test(arguments: OutgoingSetup.all, Session.all)
    func `a message that ends three connections is rejected, and all other messages are sent`(
        _ setup: OutgoingSetup, _ session: Session
    ) async throws {
        let (gate, store) = (ScriptGate(), ControlledStore())
        let payload = Data((0..<3_000).map { UInt8(truncatingIfNeeded: $0) })
        let first = ConnectionScript.connection([.accept(), .hold(gate), .cut(.orderly)])
        try await Self.run(setup, [first], afterwards: Self.closing(session.accept), store: store) {
            $0.maxAutoReconnectInterval = 600
            $0.reconnect.stableConnectionTime = .seconds(60)
        } _: { world in
            let (large, small) = try await Self.publishBoth(world, gate, session.qos, setup, payload: payload)
            await world.run(for: .seconds(26))
            await world.soon { large.value != nil && small.value != nil }

            // The message is sent alone on each connection: at once on the second connection, and after 10 s on the
            // third and the fourth.
            #expect(await world.gaps == .seconds(1, 1, 11, 11))
            for number in 2...4 {
                #expect(await world.publishes(on: number).map(\.topic) == ["large"])
                #expect(await world.broker.packets(.pingReq, on: number).count == 1)
            }
            let sent = await world.times(of: .publish(to: "large"))
            #expect(zip(sent, sent.dropFirst()).map { ($1 - $0).components.seconds } == [1, 11, 11])
            #expect(await world.publishes(on: 5).map(\.topic) == ["small"])

            let error = try #require(large.value?.failure)
            #expect(error.code == .publishRefused && error.reasonCode == nil)
            #expect(error.message.contains("\"large\"") && error.message.contains("closed 3 connections"))
            #expect(!error.message.contains("The broker  ") && !error.description.contains("cause"))
            let message = try #require(error.rejectedMessage)
            #expect(message.topic == "large" && message.data == payload && message.qos == session.qos)
            #expect(message.properties.userProperties == setup.properties().userProperties)
            #expect(small.value?.success?.reasonCode == .success)

            let later = try Self.publish(world, to: "later", session.qos, setup)
            await world.soon { later.value != nil }
            #expect(later.value?.success != nil)
            if setup.isListening { Self.expectEvents(world, payload) }
            if setup.hasStore { await Self.expectRows(world, store, payload, error) }
        }
    }

    private static func expectEvents(_ world: ScriptedWorld, _ payload: Data) {
        let failures = world.errors(of: "messageSendFailure")
        #expect(failures.map { $0.rejectedMessage?.data } == [payload])
        let rejected = world.test.events.compactMap { event -> Message? in
            if case .messageRejected(let message, _) = event { message } else { nil }
        }
        #expect(rejected.map(\.topic) == ["large"] && rejected.map(\.data) == [payload])
    }

    private static func expectRows(
        _ world: ScriptedWorld, _ store: ControlledStore, _ payload: Data, _ error: CourierError
    ) async {
        await world.soon { await store.memory.summary(of: world.scope).outgoingCount == 0 }
        let rows = await store.memory.rejected(in: world.scope, after: nil, limit: 10)
        #expect(rows.map(\.message.topic) == ["large"] && rows.map { Data($0.message.payload) } == [payload])
        #expect(rows.map(\.reason) == [error.message] && rows.map(\.outgoing.strikes) == [2])
    }

    @Test func `await publish() throws an error that contains the rejected message`() async throws {
        try await Self.run(afterwards: Self.closing()) { world in
            await world.connect()
            let large = Task { [client = world.client] in
                do {
                    _ = try await client.publish("x", to: "large")
                    return nil as CourierError?
                } catch {
                    return error as? CourierError
                }
            }
            await world.until { await !world.publishes().isEmpty }
            await world.run(for: .seconds(26))
            #expect(await large.value?.rejectedMessage?.topic == "large")
        }
    }

    @Test func `if rejectsHarmfulMessages is false, no message is rejected and no ping is sent`() async throws {
        let gate = ScriptGate()
        let first = ConnectionScript.connection([.accept(), .hold(gate), .cut(.orderly)])
        try await Self.run(Self.plain, [first], afterwards: Self.closing()) {
            $0.session.rejectsHarmfulMessages = false
            $0.protocolVersion = .version5
        } _: { world in
            let (large, small) = try await Self.publishBoth(world, gate)
            await world.run(for: .seconds(200))
            #expect(large.value == nil && small.value == nil)
            #expect(await world.broker.packets(.pingReq).isEmpty)
            #expect(await world.publishes(on: 3).map(\.topic) == ["large"])
        }
    }

    @Test func `a message that takes 5 s to write is rejected if the broker closes right after the last byte`()
        async throws
    {
        let slow: [ScriptStep] = [
            .accept(), .serve(until: .pingReq), .answer, .stopReading, .pause(.seconds(5)), .resumeReading,
            .serve(until: .publish(to: "large")), .cut(.orderly),
        ]
        let first = ConnectionScript.connection(Self.closing())
        try await Self.run(Self.plain, [first], afterwards: slow, over: .memory(capacity: 1_000)) { world in
            await world.connect()
            let large = try Self.publish(world, Data(count: 5_000), to: "large")
            await world.run(for: .seconds(60))
            #expect(large.value?.failure?.rejectedMessage?.byteCount == 5_000)
        }
    }

    // MARK: DISCONNECT that names a message

    private static let codes: [PacketReasonCode] = [
        .topicNameInvalid, .packetTooLarge, .payloadFormatInvalid, .retainNotSupported, .qosNotSupported,
    ]

    @Test(arguments: codes, [true, false])
    func `after DISCONNECT with a message-related reason code, the only message in flight is rejected at once`(
        _ code: PacketReasonCode, isKept: Bool
    ) async throws {
        #expect([0x90, 0x95, 0x99, 0x9A, 0x9B].contains(code.rawValue))
        let steps: [ScriptStep] = [.accept(), .serve(until: .publish(to: "large")), .disconnect(code)]
        try await Self.run(Self.plain, [.connection(steps)], afterwards: [.accept(isSessionPresent: isKept)]) {
            $0.protocolVersion = .version5
        } _: { world in
            await world.connect()
            let large = try Self.publish(world, to: "large")
            await world.settle()
            let error = try #require(large.value?.failure)
            #expect(error.code == .publishRefused && error.reasonCode?.rawValue == code.rawValue)
            #expect(error.message.contains("0x" + String(code.rawValue, radix: 16, uppercase: true)))
            #expect(error.rejectedMessage?.topic == "large")
            await world.run(for: .seconds(2))
            let small = try Self.publish(world, to: "small")
            await world.soon { small.value != nil }
            #expect(await world.publishes(on: 2).map(\.topic) == ["small"])
            #expect(await world.broker.packets(.pingReq).isEmpty, "no suspicion is left")
        }
    }

    @Test(arguments: codes)
    func `after DISCONNECT, no message is rejected if two are in flight, but a message sent alone is rejected`(
        _ code: PacketReasonCode
    ) async throws {
        let gate = ScriptGate()
        let first = ConnectionScript.connection([.accept(), .hold(gate), .disconnect(code)])
        let steps: [ScriptStep] = [.accept(), .serve(until: .publish(to: "large")), .disconnect(code)]
        try await Self.run(Self.plain, [first], afterwards: steps) {
            $0.protocolVersion = .version5
        } _: { world in
            let (large, small) = try await Self.publishBoth(world, gate)
            await world.settle()
            #expect(large.value == nil && small.value == nil)
            await world.run(for: .seconds(10))
            #expect(await world.publishes(on: 2).map(\.topic) == ["large"])
            #expect(large.value?.failure?.reasonCode?.rawValue == code.rawValue)
            #expect(small.value?.success != nil)
            #expect(await world.publishes(on: 3).map(\.topic) == ["small"])
        }
    }

    // MARK: The end of suspicion

    /// The broker acknowledges nothing, so all messages that may be in flight are in flight.
    private static func expectNoLimit(_ world: ScriptedWorld, on number: Int) async throws {
        for _ in 0..<3 { _ = try publish(world, to: "free") }
        await world.soon { await world.publishes(on: number).filter { $0.topic == "free" }.count == 3 }
        #expect(await world.publishes(on: number).filter { $0.topic == "free" }.count == 3)
    }

    @Test func `the suspicion ends if the suspected message expires while it waits`() async throws {
        let steps: [ScriptStep] = [.accept(), .fault(.drop(.pubAck, count: .max))] + Self.closing().dropFirst()
        try await Self.run(afterwards: Array(steps)) {
            $0.offline.maximumAge = .seconds(7)
            $0.session.acknowledgementTimeout = nil
        } _: { world in
            await world.connect()
            let large = try Self.publish(world, to: "large")
            await world.run(for: .seconds(11))  // During the control connection after the first strike.
            #expect(large.value?.failure?.code == .messageExpired)
            await world.run(for: .seconds(2))  // The control connection has lasted long enough.
            #expect(await world.broker.connections.count == 3)
            // This connection has no suspected message any more, so its end shows that the suspicion is over.
            _ = try Self.publish(world, to: "first")
            await world.run(for: .seconds(1))
            world.client.disconnect()
            await world.run(for: .seconds(1))
            await world.connect()
            try await Self.expectNoLimit(world, on: 4)
        }
    }

    @Test func `no message is suspected after disconnect() with an unacknowledged message`() async throws {
        let unanswered: [ScriptStep] = [.accept(), .fault(.drop(.pubAck, count: .max))]
        try await Self.run(afterwards: unanswered) {
            $0.session.acknowledgementTimeout = nil
        } _: { world in
            await world.connect()
            _ = try Self.publish(world, to: "t")
            await world.soon { await world.publishes(on: 1).count == 1 }
            world.client.disconnect()
            await world.run(for: .seconds(6))
            await world.connect()
            try await Self.expectNoLimit(world, on: 2)
            #expect(await world.broker.packets(.pingReq).isEmpty)
        }
    }

    @Test func `messages are no longer suspected after destroy()`() async throws {
        let steps: [ScriptStep] = [.accept(), .fault(.drop(.pubAck, count: .max))] + Self.closing().dropFirst()
        try await Self.run(afterwards: Array(steps)) {
            $0.session.acknowledgementTimeout = nil
        } _: { world in
            await world.connect()
            _ = try Self.publish(world, to: "large")
            await world.run(for: .seconds(5))
            world.client.destroy()
            await world.settle()
            await world.connect()
            let number = await world.broker.connections.count
            try await Self.expectNoLimit(world, on: number)
        }
    }

    @Test func `a message that waits for the end of a suspected message is not sent after destroy()`() async throws {
        let gate = ScriptGate()
        let first = ConnectionScript.connection([.accept(), .hold(gate), .cut(.orderly)])
        let second = ConnectionScript.connection([
            .accept(isSessionPresent: true), .fault(.drop(.pubAck, count: .max)),
        ])
        try await Self.run(Self.plain, [first, second], afterwards: [.accept()]) { _ in
        } _: { world in
            _ = try await Self.publishBoth(world, gate)
            await world.run(for: .seconds(2))
            await world.soon { await world.publishes(on: 2).map(\.topic) == ["large"] }
            world.client.destroy()
            await world.settle()
            #expect(await world.publishes(on: 2).map(\.topic) == ["large"])
        }
    }
}
