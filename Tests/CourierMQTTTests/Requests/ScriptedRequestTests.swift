import CourierCore
import CourierTesting
import CourierTransport
import Foundation
import MQTTCodec
import Synchronization
import Testing

@testable import CourierMQTT

/// `request` with connections that are lost, and with brokers that do not answer.
@Suite(.timeLimit(.minutes(5))) struct ScriptedRequestTests {
    /// Sends a request with a timeout of five seconds.
    private static func ask(_ world: ScriptedWorld) -> Task<String, any Error> {
        Task { [client = world.client] in try await client.request("?", to: "q", timeout: .seconds(5)) }
    }

    private static func requests(_ world: ScriptedWorld) async -> [Publish] {
        await world.publishes().filter { $0.topic == "q" }
    }

    /// Expects that no caller waits.
    private static func expectNothingLeft(
        _ world: ScriptedWorld, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        await world.settle()
        #expect(world.client.waitingCount == 0, sourceLocation: sourceLocation)
        #expect(world.client.requests.waitingCount == 0, sourceLocation: sourceLocation)
        let waiting = Box<Int>()
        world.loop.execute { waiting.value = world.client.parts.coordinator.subscriptions.waitingCount }
        await world.settle()
        #expect(waiting.value == 0, sourceLocation: sourceLocation)
    }

    // MARK: Time

    /// The stages in which a request may wait without an answer.
    enum Silence: CaseIterable {
        case noConnection
        case noSubAck
        case noPubAck
        case lostAfterPublish
        case nobodySubscribed
        case noAnswer

        fileprivate var script: ConnectionScript {
            switch self {
            case .noConnection: .connection([.expect(.connect), .stall])
            case .noSubAck: .connection([.accept(), .serve(until: .subscribe), .stall])
            case .noPubAck: .connection([.accept(), .fault(.drop(.pubAck, count: .max))])
            case .lostAfterPublish: .connection([.accept(), .serve(until: .publish(to: "q")), .cut(.reset)])
            case .nobodySubscribed:
                .connection([
                    .accept(),
                    // The request has one of these packet ids; an acknowledgement of another id does no harm.
                    .fault(.replace(.pubAck, with: Self.nobody(1), Self.nobody(2))),
                ])
            case .noAnswer: .connection([.accept()])
            }
        }

        private static func nobody(_ id: PacketID) -> Packet {
            .pubAck(Acknowledgement(packetID: id, reasonCode: .noMatchingSubscribers))
        }

        /// A part of the timeout error.
        fileprivate var words: String {
            switch self {
            case .noConnection: "There was no connection for 5.0 seconds; the request to \"q\" was not sent"
            case .noSubAck: "the request was not sent, because the broker has not granted the subscription"
            case .noPubAck, .lostAfterPublish: "the broker has not acknowledged the request"
            case .nobodySubscribed: "the broker reports that no client is subscribed"
            case .noAnswer: "No response to the request to \"q\" arrived in 5.0 seconds."
            }
        }

        fileprivate func isReached(_ world: ScriptedWorld) async -> Bool {
            switch self {
            case .noConnection: world.client.waitingCount == 2
            case .noSubAck: await !world.broker.packets(.subscribe).isEmpty
            case .noPubAck: await !ScriptedRequestTests.requests(world).isEmpty
            case .lostAfterPublish: world.client.connectionState == .disconnected && world.client.waitingCount == 2
            case .nobodySubscribed: world.client.requests.stages == [.acknowledged(.noMatchingSubscribers)]
            case .noAnswer: world.client.requests.stages == [.acknowledged(.success)] && world.client.waitingCount == 1
            }
        }
    }

    @Test(arguments: Silence.allCases)
    func `a request without a response times out in every stage of the exchange, and no pending state remains`(
        _ silence: Silence
    ) async throws {
        try await ScriptedWorld.run([silence.script], afterwards: [.expect(.connect), .stall]) { world in
            await world.connect()
            let asking = Self.ask(world)
            await world.until { await silence.isReached(world) }
            await world.run(for: .milliseconds(4_999))
            #expect(world.client.requests.waitingCount == 1)
            await world.run(for: .milliseconds(1))
            let error = await asking.result.failure as? CourierError
            #expect(error?.code == .timedOut)
            #expect(error?.message.contains("\"q\"") == true)
            #expect(error?.message.contains(silence.words) == true, "\(error?.message ?? "")")
            let reasonCode: ReasonCode? = silence == .nobodySubscribed ? .noMatchingSubscribers : nil
            #expect(error?.reasonCode == reasonCode)
            let cause: CourierError.Code? = silence == .lostAfterPublish ? .connectionLost : nil
            #expect((error?.cause as? CourierError)?.code == cause)
            await Self.expectNothingLeft(world)
        }
    }

    /// Sends a request without a connection and returns its timeout error.
    private static func askInVain(_ world: ScriptedWorld) async -> CourierError? {
        let asking = ask(world)
        await world.until { world.client.waitingCount == 2 }
        await world.run(for: .seconds(5))
        let error = await asking.result.failure as? CourierError
        #expect(error?.code == .timedOut)
        return error
    }

    @Test func `the timeout error of a request without a connection contains the last failure`() async throws {
        try await ScriptedWorld.run(afterwards: [.refuse(.serverUnavailable)]) { world in
            await world.connect()
            let error = await Self.askInVain(world)
            #expect(error?.message.contains(Silence.noConnection.words) == true, "\(error?.message ?? "")")
            #expect((error?.cause as? CourierError)?.reasonCode == .serverUnavailable)
            await Self.expectNothingLeft(world)
        }
    }

    @Test func `the timeout error of a request contains no connection failure from before disconnect()`() async throws {
        try await ScriptedWorld.run(
            [.connection([.refuse(.serverUnavailable)])], afterwards: [.expect(.connect), .stall]
        ) { world in
            await world.connect()
            await world.until { world.events.contains("connectionFailure") }
            world.client.disconnect()
            await world.settle()
            await world.connect()
            let error = await Self.askInVain(world)
            #expect(error != nil && error?.cause == nil)
            await Self.expectNothingLeft(world)
        }
    }

    /// Returns options that expire, then throws, and then returns the same options without an expiry.
    private final class FailingProvider: ConnectionServiceProvider {
        private let count = Mutex(0)
        var clientID: String { "scripted" }

        func connectOptions() async throws -> ConnectGrant {
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == 2 { throw CourierError(.authenticationFailed, "There are no tokens today.") }
            let options = ConnectOptions(
                host: "broker.invalid", port: 1883, keepAlive: 0, clientId: "scripted", username: "", password: "")
            return ConnectGrant(options, expiresAt: number == 1 ? Date(timeIntervalSinceNow: 1_000) : nil)
        }
    }

    @Test func `a failed renewal of credentials is not the cause of a request timeout while connected`() async throws {
        try await ScriptedWorld.run([.connection([.accept()])]) { config in
            let given = config
            config = MQTTClientConfig(provider: FailingProvider())
            config.deliveryQueue = given.deliveryQueue
            config.environment.eventLoops = given.environment.eventLoops
            config.endpoint = given.endpoint
            config.environment.networkMonitor = given.environment.networkMonitor
            config.protocolVersion = .version5
        } _: { world in
            await world.connect()
            await world.until { world.client.connectionState == .connected }
            await world.run(for: .seconds(975))  // The client requests new credentials 30 s before they expire.
            await world.until { world.events.contains("connectionServiceAuthFailure") }
            #expect(world.client.connectionState == .connected)
            let asking = Self.ask(world)
            await world.until {
                world.client.requests.stages == [.acknowledged(.success)] && world.client.waitingCount == 1
            }
            await world.run(for: .seconds(5))
            let error = await asking.result.failure as? CourierError
            #expect(error?.code == .timedOut)
            #expect(error != nil && error?.cause == nil)
            await Self.expectNothingLeft(world)
        }
    }

    @Test func `the message expiry of a delayed request is the remaining time until its timeout`() async throws {
        try await ScriptedWorld.run([.connection([.refuse(.serverUnavailable)])]) { world in
            await world.connect()
            let asking = Self.ask(world)
            await world.until { world.client.waitingCount == 2 }
            await world.run(for: .seconds(1))
            await world.until { await !Self.requests(world).isEmpty }
            #expect(await Self.requests(world).map(\.properties.messageExpiryInterval) == [4])
            await world.run(for: .seconds(4))
            #expect((await asking.result.failure as? CourierError)?.code == .timedOut)
        }
    }

    @Test func `a request with a very long timeout is sent with the largest message expiry`() async throws {
        try await ScriptedWorld.run { world in
            await world.connect()
            let asking: Task<String, any Error> = Task { [client = world.client] in
                try await client.request("?", to: "q", timeout: .seconds(Int64.max))
            }
            await world.until { await !Self.requests(world).isEmpty }
            #expect(await Self.requests(world).map(\.properties.messageExpiryInterval) == [UInt32.max])
            asking.cancel()
            await #expect(throws: CancellationError.self) { try await asking.value }
            await Self.expectNothingLeft(world)
        }
    }

    @Test(arguments: [QoS.zero, .two])
    func `a request is sent with QoS 1 even if its Topic has another QoS`(_ qos: QoS) async throws {
        try await ScriptedWorld.run { world in
            await world.connect()
            let asking = Task { [client = world.client] in
                try await client.request("?", to: Topic<String>("q", qos: qos), as: String.self)
            }
            await world.until { await !Self.requests(world).isEmpty }
            #expect(await Self.requests(world).map(\.delivery.qos) == [.atLeastOnce])
            asking.cancel()
            _ = await asking.result
        }
    }

    @Test func `a request without a timeout argument times out after 10 seconds`() async throws {
        try await ScriptedWorld.run { world in
            await world.connect()
            let asking = Task { [client = world.client] in try await client.request("?", to: "q", as: String.self) }
            await world.until { await !Self.requests(world).isEmpty }
            #expect(await Self.requests(world).map(\.properties.messageExpiryInterval) == [10])
            await world.run(for: .seconds(10))
            #expect((await asking.result.failure as? CourierError)?.code == .timedOut)
        }
    }

    @Test(arguments: Silence.allCases)
    func `a cancelled request fails at once in every stage of the exchange, and no pending state remains`(
        _ silence: Silence
    ) async throws {
        try await ScriptedWorld.run([silence.script], afterwards: [.expect(.connect), .stall]) { world in
            await world.connect()
            let asking = Self.ask(world)
            await world.until { await silence.isReached(world) }
            asking.cancel()
            await #expect(throws: CancellationError.self) { try await asking.value }
            await Self.expectNothingLeft(world)
        }
    }

    // MARK: The response topic

    private static let answers = "courier/answers/scripted"

    private static func subscribed(_ world: ScriptedWorld, on connection: Int) async -> [[String]] {
        await world.broker.packets(.subscribe, on: connection)
            .compactMap { $0.packet.subscribe?.subscriptions.map(\.filter) }
    }

    @Test func `concurrent requests share one subscription, and each has its own correlation data`() async throws {
        try await ScriptedWorld.run { world in
            await world.connect()
            let asking = (0..<3).map { _ in Self.ask(world) }
            await world.until { await Self.requests(world).count == 3 }
            #expect(await Self.subscribed(world, on: 1) == [[Self.answers]])
            let properties = await Self.requests(world).map(\.properties)
            #expect(Set(properties.compactMap(\.responseTopic)) == [Self.answers])
            #expect(Set(properties.map(\.correlationData)).count == 3)
            for task in asking { task.cancel() }
            for task in asking { _ = await task.result }
            await Self.expectNothingLeft(world)
            // The subscription remains for the next request.
            #expect(await world.broker.packets(.unsubscribe).isEmpty)
            let next = Self.ask(world)
            await world.until { await Self.requests(world).count == 4 }
            #expect(await Self.subscribed(world, on: 1).count == 1)
            next.cancel()
            _ = await next.result
        }
    }

    @Test func `the store contains the response topic as a filter to unsubscribe after a restart`() async throws {
        let store = ControlledStore()
        let filter = try TopicFilter(Self.answers)
        try await ScriptedWorld.run {
            $0.messageStore = store
        } _: { world in
            await world.connect()
            let asking = Self.ask(world)
            await world.until { await !Self.requests(world).isEmpty }
            await world.until { store.changes.contains(.want(StoredSubscription(filter, .unsubscribing))) }
            #expect(!store.changes.contains(.want(StoredSubscription(filter, .subscribed(.one)))))
            asking.cancel()
            _ = await asking.result
        }
    }

    @Test func `a response topic of an earlier process is unsubscribed, and subscribed again for a new request`()
        async throws
    {
        let store = ControlledStore()
        let left = StoreChange.want(StoredSubscription(try TopicFilter(Self.answers), .unsubscribing))
        try await ScriptedWorld.run([.connection([.accept(isSessionPresent: true)])]) {
            $0.messageStore = store
        } _: { world in
            try await store.memory.fill([left], world.scope)
            await world.connect()
            await world.until { world.events.contains("unsubscribeSuccess") }
            #expect(await Self.subscribed(world, on: 1).isEmpty)
            let asking = Self.ask(world)
            await world.until { await !Self.requests(world).isEmpty }
            #expect(await Self.subscribed(world, on: 1) == [[Self.answers]])
            asking.cancel()
            _ = await asking.result
        }
    }

    @Test(arguments: [true, false])
    func `after destroy(), pending requests end with an error, and the next request subscribes again`(
        _ isWaiting: Bool
    ) async throws {
        try await ScriptedWorld.run { world in
            await world.connect()
            let asking = Self.ask(world)
            await world.until { await !Self.requests(world).isEmpty }
            if !isWaiting {
                asking.cancel()
                _ = await asking.result
            }
            world.client.destroy()
            let error = await asking.result.failure
            #expect(isWaiting == ((error as? CourierError)?.code == .clientDestroyed))
            await Self.expectNothingLeft(world)
            await world.connect()
            #expect(await Self.subscribed(world, on: 2).isEmpty)
            let next = Self.ask(world)
            await world.until { await world.publishes(on: 2).contains { $0.topic == "q" } }
            #expect(await Self.subscribed(world, on: 2) == [[Self.answers]])
            #expect(await world.broker.packets(.unsubscribe).isEmpty)
            next.cancel()
            _ = await next.result
        }
    }

    @Test func `a request throws if its response topic is refused, and the next call subscribes again`() async throws {
        let refusal = SubAck(packetID: 1, reasonCodes: [.unspecifiedError])
        let script = ConnectionScript.connection([.accept(), .serve(until: .subscribe), .send(.subAck(refusal))])
        try await ScriptedWorld.run([script]) { world in
            await world.connect()
            let error = await Self.ask(world).result.failure as? CourierError
            #expect(error?.code == .subscriptionRefused)
            #expect(error?.message.contains(Self.answers) == true)
            let next = Self.ask(world)
            await world.until { await !Self.requests(world).isEmpty }
            #expect(await Self.subscribed(world, on: 1) == [[Self.answers], [Self.answers]])
            next.cancel()
            _ = await next.result
        }
    }

    private static func options(id: String) -> ConnectOptions {
        ConnectOptions(
            host: "broker.invalid", port: 1883, keepAlive: 0, clientId: id, username: "", password: "",
            isCleanSession: true)
    }

    /// The response topic of a client with this id.
    private static func responseTopic(of clientID: String) async throws -> String? {
        var topic: String?
        try await ScriptedWorld.run(provider: ScriptedProvider(options(id: clientID))) { world in
            await world.connect()
            let asking = Self.ask(world)
            await world.until { await !Self.requests(world).isEmpty }
            topic = await Self.requests(world).first?.properties.responseTopic
            asking.cancel()
            _ = await asking.result
        }
        return topic
    }

    @Test func `special characters of the client id are escaped in the response topic`() async throws {
        #expect(try await Self.responseTopic(of: "a/b+#c") == "courier/answers/a%2Fb%2B%23c")
    }

    @Test func `client ids with equal letters but different bytes have different response topics`() async throws {
        let ids = ["caf\u{E9}", "cafe\u{301}"]
        let provider = ScriptedProvider(ids.map { ScriptedProvider.Answer.options(Self.options(id: $0)) })
        try await ScriptedWorld.run(provider: provider) { world in
            for (number, id) in ids.enumerated() {
                await world.connect()
                let asking = Self.ask(world)
                await world.until { await Self.requests(world).count == number + 1 }
                let topic = await Self.requests(world).last?.properties.responseTopic
                #expect(topic.map { Array($0.utf8) } == Array("courier/answers/\(id)".utf8))
                asking.cancel()
                _ = await asking.result
                world.client.disconnect()
                await world.run(for: .seconds(6))
            }
        }
    }

    @Test(arguments: ["", "app-%%%%"])
    func `clients with an empty or random client id have different response topics`(_ clientID: String) async throws {
        let topics = [try await Self.responseTopic(of: clientID), try await Self.responseTopic(of: clientID)]
        #expect(topics.compactMap(\.self).count == 2)
        #expect(topics[0] != topics[1])
    }
}
