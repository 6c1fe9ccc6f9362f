import CourierCore
import CourierMQTT
import CourierTesting
import Dispatch
import Foundation
import MQTTCodec
import Testing

@testable import CourierMQTTChuck

/// The traffic that a logger recorded is replayed by a scripted broker.
@Suite(.timeLimit(.minutes(5))) struct RecordedTrafficTests {
    private static func client(_ port: UInt16, _ logger: MQTTChuckLogger?) -> any CourierCore.CourierClient {
        var config = MQTTClientConfig(
            options: ConnectOptions(
                host: "127.0.0.1", port: port, clientId: "replayed", username: "", password: "", isCleanSession: true))
        config.deliveryQueue = DispatchQueue(label: "replayed")
        config.packetObserver = logger
        config.environment.networkMonitor = AlwaysAvailableNetwork()
        return CourierClientFactory().makeMQTTClient(config: config)
    }

    /// The work of the app: it subscribes, publishes and reads a message. Returns the results.
    private static func run(_ client: any CourierCore.CourierClient) async throws -> [String] {
        client.connect()
        try await client.connected()
        var seen: [String] = []
        var texts = client.messages(String.self, from: "field/#").makeAsyncIterator()
        try await client.subscribe(to: "field/#")
        do {
            let receipt = try await client.publish("one", to: "out/1", qos: .one)
            seen.append("accepted \(receipt.reasonCode.rawValue)")
        } catch let error as CourierError {
            seen.append("refused \(error.code)")
        }
        seen.append(try await texts.next() ?? "nothing")
        return seen
    }

    @Test func `a client gets the same results when a scripted broker replays the client's recorded session`()
        async throws
    {
        // The recorded session: a broker refuses one message because of a quota, and sends another message. The
        // connection has already carried many messages, so that the packet ids are not 1.
        let logger = MQTTChuckLogger()
        let field = try ScriptedBroker.start([
            .connection([
                .accept(), .serve(until: .subscribe), .answer, .expect(.publish(to: "out/1")),
                .send(.publish(Publish(topic: "field/a", payload: Array("hello".utf8)))), .answer,
            ])
        ])
        let first = Self.client(field.port, logger)
        let seen = try await Self.run(first)
        first.destroy()
        await field.shutdown()
        #expect(seen.count == 2 && seen[1] == "hello")

        // The exported file is imported, and the same app runs against a broker that replays it.
        let copy = MQTTChuckLogger()
        try copy.importJSONLines(logger.exported(.jsonLines))
        let session = try #require(copy.recordedSessions().first)
        #expect(session.isComplete)
        // Only up to the last packet of the broker, because the end of the app is not under test.
        let last = try #require(session.steps.lastIndex { $0.direction == .incoming })
        let traffic = RecordedTraffic(session.steps[...last].map { ($0.direction, $0.delay, $0.bytes) })
        let broker = try ScriptedBroker.start([.replaying(traffic)])
        let again = Self.client(broker.port, nil)
        #expect(try await Self.run(again) == seen)
        try await broker.verify()
        again.destroy()
        await broker.shutdown()
    }
}
