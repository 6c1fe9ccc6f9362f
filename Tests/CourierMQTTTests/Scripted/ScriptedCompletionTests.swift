import CourierCore
import CourierTesting
import CourierTransport
import Dispatch
import MQTTCodec
import Synchronization
import Testing

@testable import CourierMQTT

/// The results of completions, with the broker's reason codes.
@Suite(.timeLimit(.minutes(5))) struct ScriptedCompletionTests {
    private typealias Answer = Box<Result<Void, CourierError>>

    /// Stores log messages of level `info` and above.
    private final class TextLog: LogHandler {
        private let kept = Mutex<[String]>([])
        var texts: [String] { kept.withLock { $0 } }

        func log(_ record: LogRecord) { kept.withLock { $0.append(record.message) } }
    }

    // MARK: connect()

    @Test func `connect() reports the reason code of a CONNACK that refuses the connection`() async throws {
        try await ScriptedWorld.run([.connection([.refuse(.clientIdentifierNotValid)])]) { world in
            let answer = Answer()
            world.client.connect { answer.value = $0 }
            await world.settle()
            #expect(answer.value?.failure?.code == .connectionRefused)
            #expect(answer.value?.failure?.reasonCode == .clientIdentifierNotValid)
            #expect(world.errors(of: "connectionFailure").map(\.reasonCode) == [.clientIdentifierNotValid])
        }
    }

    @Test(arguments: [false, true])
    func `connect() after disconnect() or destroy() reports the result of the new connection`(_ destroys: Bool)
        async throws
    {
        try await ScriptedWorld.run { world in
            await world.connect()
            let (former, answer) = (Answer(), Answer())
            // All calls are made in one job of the loop, before the client handles the first of them.
            world.loop.execute { [client = world.client] in
                client.connect { former.value = $0 }
                if destroys { client.destroy() } else { client.disconnect() }
                client.connect { answer.value = $0 }
            }
            await world.run(for: .seconds(6))
            #expect(former.value?.success != nil)
            #expect(answer.value?.success != nil, "\(String(describing: answer.value))")
            #expect(await world.broker.connections.count == 2)
        }
    }

    @Test func `disconnect() succeeds even if another thread calls connect() before disconnect() returns`()
        async throws
    {
        try await ScriptedWorld.run { world in
            await world.connect()
            let answer = Answer()
            // Simulates a thread that is suspended inside disconnect() while another thread continues.
            world.client.parts.coordinator.sessionCalls.withLock {
                _ = $0.note(.disconnect(told: { answer.value = $0 }))
            }
            world.client.connect()
            await world.run(for: .seconds(6))
            #expect(answer.value?.success != nil)
            #expect(await world.broker.connections.count == 2)
            #expect(world.client.connectionState == .connected)
        }
    }

    @Test func `a pending connect() fails with sessionMissing if disconnect() is called`() async throws {
        try await ScriptedWorld.run([.connection([.expect(.connect), .stall])]) { world in
            await world.connect()
            let answer = Answer()
            world.loop.execute { [client = world.client] in
                client.connect { answer.value = $0 }
                client.disconnect()
            }
            await world.run(for: .seconds(6))
            #expect(answer.value?.failure?.code == .sessionMissing)
        }
    }

    @Test func `connectionLost has the reason code of the broker's DISCONNECT`() async throws {
        let script = ConnectionScript.connection([.accept(), .disconnect(.sessionTakenOver)])
        try await ScriptedWorld.run([script]) { world in
            await world.connect()
            #expect(world.errors(of: "connectionLost").map(\.reasonCode) == [.sessionTakenOver])
            #expect(await world.connectedAnswer()?.failure?.reasonCode == .sessionTakenOver)
        }
    }

    // MARK: Subscriptions

    @Test func `subscribe() and unsubscribe() report the reason code of SUBACK and UNSUBACK`() async throws {
        let subAck = SubAck(packetID: 1, reasonCodes: [.quotaExceeded])
        let unsubAck = UnsubAck(packetID: 1, reasonCodes: [.notAuthorized])
        let script = ConnectionScript.connection([
            .accept(), .fault(.replace(.subAck, with: .subAck(subAck))),
            .fault(.replace(.unsubAck, with: .unsubAck(unsubAck))),
        ])
        try await ScriptedWorld.run([script]) { world in
            await world.connect()
            let refused = Box<Result<QoS, CourierError>>()
            world.client.subscribe("a", qos: .one) { refused.value = $0 }
            await world.settle()
            #expect(refused.value?.failure?.reasonCode == .quotaExceeded)

            let granted = Box<Result<QoS, CourierError>>()
            world.client.subscribe("b", qos: .one) { granted.value = $0 }
            await world.settle()
            #expect(granted.value?.success == .one)

            let kept = Answer()
            world.client.unsubscribe("b") { kept.value = $0 }
            await world.settle()
            #expect(kept.value?.failure?.reasonCode == .notAuthorized)
        }
    }

    @Test(arguments: [QoS.one, .two])
    func `publish() reports the reason code of PUBACK or PUBREC`(_ qos: QoS) async throws {
        let refusal = Acknowledgement(packetID: 1, reasonCode: .topicNameInvalid)
        let script = ConnectionScript.connection([
            .accept(), .fault(.replace(.pubAck, with: .pubAck(refusal))),
            .fault(.replace(.pubRec, with: .pubRec(refusal))),
        ])
        try await ScriptedWorld.run([script]) { world in
            await world.connect()
            let refused = try world.publish("x", qos: qos)
            await world.settle()
            #expect(refused.value?.failure?.reasonCode == .topicNameInvalid)
            let taken = try world.publish("y", qos: qos)
            await world.settle()
            #expect(taken.value?.success?.reasonCode == .success)
        }
    }

    // MARK: disconnect()

    @Test func `every disconnect() call succeeds after one DISCONNECT is written`() async throws {
        try await ScriptedWorld.run { world in
            await world.connect()
            let answers = [Answer(), Answer()]
            // All calls are made in one job of the loop, before the broker can answer the first of them.
            world.loop.execute { [client = world.client] in
                for answer in answers { client.disconnect { answer.value = $0 } }
                client.connect()
            }
            await world.settle()
            #expect(answers.allSatisfy { $0.value?.success != nil })
            #expect(await world.broker.packets(.disconnect, on: 1).count == 1)
        }
    }

    @Test func `disconnect() without a connection fails with sessionMissing`() async throws {
        let script = ConnectionScript.connection([.expect(.connect), .stall])
        try await ScriptedWorld.run([script]) { world in
            let unused = Answer()
            world.client.disconnect { unused.value = $0 }
            await world.settle()
            #expect(unused.value?.failure?.code == .sessionMissing)

            await world.connect()
            let attempt = Answer()
            world.client.disconnect { attempt.value = $0 }
            await world.run(for: .seconds(6))
            #expect(attempt.value?.failure?.code == .sessionMissing)
            #expect(attempt.value?.failure?.reasonCode == nil)
        }
    }

    @Test func `disconnect() fails with connectionLost if the broker stops reading`() async throws {
        let script = ConnectionScript.connection([.accept(), .stopReading, .pause(.seconds(20)), .resumeReading])
        try await ScriptedWorld.run([script], isScriptChecked: false) { world in
            await world.connect()
            // More bytes than the buffers between client and broker hold.
            try world.client.publish(bytes: Array(repeating: 0, count: 1 << 20), to: "t", qos: .one)
            await world.settle()
            let answer = Answer()
            world.client.disconnect { answer.value = $0 }
            await world.run(for: .seconds(6))
            #expect(answer.value?.failure?.code == .connectionLost)
            #expect(answer.value?.failure?.message.contains("DISCONNECT") == true)
        }
    }

    @Test func `disconnect() calls its completion even if the client is released at once`() async throws {
        let broker = try LoopbackBroker.start()
        var config = MQTTClientConfig(options: .local(broker.port))
        config.deliveryQueue = DispatchQueue(label: "test.delivery")
        config.environment.networkMonitor = AlwaysAvailableNetwork()
        var client: (any CourierClient)? = CourierClientFactory().makeMQTTClient(config: config)
        client?.connect()
        try await client?.connected()
        let result: Result<Void, CourierError> = await withCheckedContinuation { continuation in
            client?.disconnect { continuation.resume(returning: $0) }
            client = nil
        }
        #expect(result.success != nil)
        await broker.shutdown()
    }

    @Test(arguments: [false, true])
    func `a client that is released without disconnect() is reported in the log`(_ disconnectsBefore: Bool) async throws
    {
        let broker = try LoopbackBroker.start()
        let log = TextLog()
        var config = MQTTClientConfig(options: .local(broker.port))
        config.deliveryQueue = DispatchQueue(label: "test.delivery")
        config.environment.networkMonitor = AlwaysAvailableNetwork()
        config.logHandler = log
        var client: (any CourierClient)? = CourierClientFactory().makeMQTTClient(config: config)
        client?.connect()
        try await client?.connected()
        if disconnectsBefore { await client?.disconnectAndWait() }
        let states = try #require(client?.states)
        client = nil
        for try await _ in states {}
        #expect(log.texts.contains { $0.contains("released without disconnect()") } == !disconnectsBefore)
        await broker.shutdown()
    }

    @Test func `disconnect() on a misconfigured client fails with invalidConfiguration`() async {
        var config = MQTTClientConfig(
            options: ConnectOptions(host: "h", port: 1, clientId: "c", username: "", password: ""))
        config.autoReconnectInterval = 0
        config.deliveryQueue = DispatchQueue(label: "test.delivery")
        let client = CourierClientFactory().makeMQTTClient(config: config)
        let result: Result<Void, CourierError> = await withCheckedContinuation { continuation in
            client.disconnect { continuation.resume(returning: $0) }
        }
        #expect(result.failure?.code == .invalidConfiguration)
    }
}
