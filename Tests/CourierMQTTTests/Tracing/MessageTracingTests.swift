import CourierCore
import CourierSQLite
import CourierTesting
import Foundation
import MQTTCodec
import Synchronization
import TestSupport
import Testing

@testable import CourierMQTT

@Suite(.timeLimit(.minutes(5))) struct MessageTracingTests {
    /// A call that publishes a message to the topic `t`.
    enum Call: CaseIterable {
        case publish, publishWithRequest, enqueue, publishMessage, publishText, publishBytes, request

        func run(_ client: any CourierClient) async throws {
            switch self {
            case .publish: try await client.publish("x", to: "t")
            case .publishWithRequest:
                try await client.publish("x", as: PublishRequest(topic: TopicTemplate(exactly: "t")))
            case .enqueue: try await client.enqueue("x", to: "t")
            case .publishMessage: try client.publishMessage("x", topic: "t", qos: .one)
            case .publishText: try client.publish(text: "x", to: "t")
            case .publishBytes: try client.publish(bytes: [1], to: "t", qos: .zero)
            case .request:
                _ = try await client.request("x", to: "t", timeout: .seconds(60)) as String
            }
        }
    }

    /// Runs `body` with a client and a broker that accepts every connection.
    private static func run(
        _ tracing: MessageTracing?, _ version: ProtocolVersionPolicy = .version5,
        _ body: (TestClient, ScriptedBroker) async throws -> Void
    ) async throws {
        let broker = try ScriptedBroker.start()
        let test = try TestClient(.local(broker.port)) {
            $0.protocolVersion = version
            $0.environment.tracing = tracing
        }
        try await test.connect()
        try await body(test, broker)
        try await test.end()
        await broker.shutdown()
    }

    /// The user properties of the first message to `topic` that the broker receives.
    private static func userProperties(_ broker: ScriptedBroker, topic: String = "t") async throws -> [String] {
        let packet = try await broker.received(.publish(to: topic)).packet
        guard case .publish(let publish) = packet else { return [] }
        return publish.properties.list.compactMap { property in
            if case .userProperty(let name, let value) = property { "\(name)=\(value)" } else { nil }
        }
    }

    @Test(arguments: Call.allCases)
    func `each publishing call sends the current trace context`(call: Call) async throws {
        let context = try #require(TraceContext(traceparent: TraceContext().traceparent, tracestate: "a=1"))
        try await Self.run(MessageTracing()) { test, broker in
            let task = TraceContext.$current.withValue(context) { Task { try await call.run(test.client) } }
            let properties = try await Self.userProperties(broker)
            #expect(properties == ["traceparent=\(context.traceparent)", "tracestate=a=1"])
            task.cancel()
            _ = await task.result
        }
    }

    @Test func `without tracing, or without a current context, messages have no trace context`() async throws {
        try await Self.run(nil) { test, broker in
            try await TraceContext.$current.withValue(TraceContext()) { try await Call.publish.run(test.client) }
            #expect(try await Self.userProperties(broker).isEmpty)
        }
        try await Self.run(MessageTracing()) { test, broker in
            try await Call.publish.run(test.client)
            #expect(try await Self.userProperties(broker).isEmpty)
        }
    }

    @Test func `before MQTT 5, the client does not call the closure for a trace context`() async throws {
        let asked = Series<String>()
        let tracing = MessageTracing(published: { topic in
            asked.append(topic)
            return TraceContext()
        })
        try await Self.run(tracing, .version311) { test, broker in
            try await Call.publish.run(test.client)
            #expect(try await Self.userProperties(broker).isEmpty && asked.values.isEmpty)
        }
    }

    @Test func `the closure receives the topic, and its result does not replace a trace context set by the app`()
        async throws
    {
        let (made, own) = (TraceContext(), TraceContext())
        let tracing = MessageTracing(published: { topic in topic == "t" ? made : nil })
        try await Self.run(tracing) { test, broker in
            let k = MessageProperties.UserProperty("k", "v")
            try await test.client.publish("x", to: "t", properties: MessageProperties(userProperties: [k]))
            #expect(try await Self.userProperties(broker) == ["k=v", "traceparent=\(made.traceparent)"])
            try await test.client.publish("x", to: "other")
            #expect(try await Self.userProperties(broker, topic: "other").isEmpty)
        }
        try await Self.run(tracing) { test, broker in
            var properties = MessageProperties()
            properties.traceContext = own
            try await test.client.publish("x", to: "t", properties: properties)
            #expect(try await Self.userProperties(broker) == ["traceparent=\(own.traceparent)"])
        }
    }

    @Test func `a message with the maximum number of user properties is sent without a trace context`() async throws {
        let limit = MessageProperties.userPropertyLimit
        try await Self.run(MessageTracing(published: { _ in TraceContext() })) { test, broker in
            let properties = (1..<limit).map { MessageProperties.UserProperty("k", "\($0)") }
            try await test.client.publish("x", to: "t", properties: MessageProperties(userProperties: properties))
            #expect(try await Self.userProperties(broker).count == limit - 1)
        }
    }

    @Test
    func `a sink and a request handler run with the received trace context, and send messages with the same context`()
        async throws
    {
        let broker = try LoopbackBroker.start()
        let received = Series<String>()
        let tracing = MessageTracing(received: { context, topic in
            received.append(topic)
            return context.child()
        })
        let test = try TestClient(.local(broker.port)) { $0.environment.tracing = tracing }
        let client = test.client
        try await test.connect()
        let answers = try await client.messages(Message.self, from: "answer").subscribed()
        let sink = client.messagePublisher(topic: "question").sink { [client] (text: String) in
            try? client.publish(text: "\(text) \(TraceContext.current?.traceID ?? "none")", to: "answer")
        }
        try await client.subscribe(to: "question")
        let root = TraceContext()
        try await TraceContext.$current.withValue(root) { try await client.publish("traced", to: "question") }
        try await client.publish("plain", to: "question")
        var texts: [String?] = []
        for try await answer in answers.prefix(2) {
            texts.append(answer.payloadString)
            let context = answer.properties.traceContext
            #expect(context?.traceID == (texts.count == 1 ? root.traceID : nil) && context != root)
        }
        #expect(texts == ["traced \(root.traceID)", "plain none"])

        let responder = Task {
            try await client.respond(to: "ask", qos: .one) { (text: String) in
                "\(text) \(TraceContext.current?.traceID ?? "none")"
            }
        }
        try await test.wait("for the responder") { events in
            events.contains { event in
                if case .subscribeSuccess(let topics, _) = event {
                    topics.contains { $0.topic == "ask" }
                } else {
                    false
                }
            }
        }
        let response: String = try await TraceContext.$current.withValue(root) {
            try await client.request("asked", to: "ask", timeout: .seconds(60))
        }
        #expect(response == "asked \(root.traceID)")
        #expect(received.values == ["question", "ask"])
        responder.cancel()
        _ = await responder.result
        sink.cancel()
        try await test.end()
        await broker.shutdown()
    }

    @Test func `a stored message keeps its trace context until another client sends it`() async throws {
        let context = TraceContext()
        let folder = try TemporaryFolder()
        let store = try SQLiteMessageStore(at: URL(filePath: folder.file("messages.courier")))
        let scope = StoreScope(clientID: "shop", broker: "b")
        let refusing = try ScriptedBroker.start(afterwards: [.refuse(.serverUnavailable)])
        let first = try TestClient(.local(refusing.port, id: "shop")) {
            $0.environment.tracing = MessageTracing()
            $0.session.storeScope = scope
            $0.messageStore = store
        }
        first.client.connect()
        try await TraceContext.$current.withValue(context) { _ = try await first.client.enqueue("x", to: "t") }
        await first.client.shutdown()
        await refusing.shutdown()
        let broker = try ScriptedBroker.start()
        let second = try TestClient(.local(broker.port, id: "shop")) {
            $0.session.storeScope = scope
            $0.messageStore = store
        }
        try await second.connect()
        #expect(try await Self.userProperties(broker) == ["traceparent=\(context.traceparent)"])
        try await second.end()
        await broker.shutdown()
    }
}
