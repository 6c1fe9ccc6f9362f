import CourierCore
import CourierMQTT
import Foundation
import Synchronization
import TestSupport
import Testing

/// Runs the published introduction, step by step, against a real broker. Everything runs on the main queue, as in an
/// app with the default configuration.
@Suite(.timeLimit(.minutes(5))) @MainActor struct ArticleTests {
    struct Note: Codable, Equatable {
        let title: String
    }

    struct Message: Codable {
        let id: String
        let name: String
        let timestamp: Date
    }

    /// The article: "To connect to MQTT broker you need to implement IConnectionServiceProvider."
    final class HiveMQAuthService: IConnectionServiceProvider {
        let port: UInt16
        init(port: UInt16) { self.port = port }

        /// The article: "return an unique string to identify your client"
        let clientId = UUID().uuidString

        /// The article: "an escaping closure, in case you need to retrieve the credential from remote API
        /// asynchronously"
        func getConnectOptions(completion: @escaping @Sendable (Result<ConnectOptions, AuthError>) -> Void) {
            let connectOptions = ConnectOptions(
                host: "127.0.0.1", port: port, keepAlive: 60, clientId: clientId, username: "", password: "",
                isCleanSession: false)
            DispatchQueue.global().async { completion(.success(connectOptions)) }
        }
    }

    /// The article: "you can implement the ICourierEventHandler protocol and implement onEvent(_:)"
    @MainActor final class Analytics: @MainActor ICourierEventHandler {
        private(set) var granted: Set<String> = []
        private(set) var unsubscribed: [String] = []
        func onEvent(_ event: CourierEvent) {
            switch event.type {
            case .subscribeSuccess(let topics, _): granted.formUnion(topics.map(\.topic))
            case .unsubscribeSuccess(let topics, _):
                granted.subtract(topics)
                unsubscribed += topics
            default: break
            }
        }
    }

    /// Waits until `condition` is true, while the main queue runs.
    private func wait(until condition: () -> Bool) async throws {
        let deadline = ContinuousClock.now + .patience
        while !condition() {
            try #require(ContinuousClock.now < deadline, "waited in vain")
            await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
        }
    }

    @Test func `the example code of the published article about Courier works with a real broker`() async throws {
        let broker = try await RealBroker()
        let clientFactory = CourierClientFactory()
        let courierClient = clientFactory.makeMQTTClient(
            config: MQTTClientConfig(
                authService: HiveMQAuthService(port: broker.port),
                messageAdapters: [
                    JSONMessageAdapter(),
                    PlistMessageAdapter(),
                ],
                autoReconnectInterval: 1,
                maxAutoReconnectInterval: 30
            )
        )

        // The article: "make sure to have strong reference to the instance, and invoke addEventHandler(_:)"
        let analytics = Analytics()
        courierClient.addEventHandler(analytics)

        // The article: "you can also subscribe the ConnectionState publisher"
        var cancellables = Set<AnyCancellable>()
        var states: [ConnectionState] = []
        courierClient.connectionStatePublisher
            .sink { states.append($0) }
            .store(in: &cancellables)

        // The article: "To connect to the broker, you simply need to invoke connect method"
        courierClient.connect()
        try await wait { courierClient.connectionState == .connected }

        // The article: "To subscribe to a topic from the broker, we can invoke subscribe(_:)"
        courierClient.subscribe(("chat/user1", QoS.zero))
        courierClient.subscribe([
            ("chat/user1", QoS.zero),
            ("order/1234", QoS.one),
            ("order/123456", QoS.two),
        ])

        // The article: "you need to subscribe to a message publisher passing the associated topic"
        var titles: [String] = []
        for topic in ["chat/user1", "order/1234", "order/123456"] {
            courierClient.messagePublisher(topic: topic)
                .sink { (note: Note) in titles.append("\(topic): \(note.title)") }
                .store(in: &cancellables)
        }
        // The article: "AnyPublisher which you can chain with operators such as filter and map"
        var lengths: [Int] = []
        courierClient.messagePublisher(topic: "order/1234")
            .filter { (note: Note) in !note.title.isEmpty }
            .map { $0.title.count }
            .sink { lengths.append($0) }
            .store(in: &cancellables)
        // A reader for the message that the article sends.
        var sent: [Message] = []
        courierClient.subscribe(("chat/1234", QoS.zero))
        courierClient.messagePublisher(topic: "chat/1234")
            .sink { (message: Message) in sent.append(message) }
            .store(in: &cancellables)

        // The article: "To send the message to the broker, … invoke publishMessage(_:topic:qos:)"
        try await wait { analytics.granted.count == 4 }
        try courierClient.publishMessage(Note(title: "zero"), topic: "chat/user1", qos: QoS.zero)
        try courierClient.publishMessage(Note(title: "one"), topic: "order/1234", qos: QoS.one)
        try courierClient.publishMessage(Note(title: "two"), topic: "order/123456", qos: QoS.two)
        try await wait { titles.count == 3 && lengths.count == 1 }
        #expect(
            Set(titles) == ["chat/user1: zero", "order/1234: one", "order/123456: two"])
        #expect(lengths == [3])
        let message = Message(id: UUID().uuidString, name: "message", timestamp: Date())
        try? courierClient.publishMessage(message, topic: "chat/1234", qos: QoS.zero)
        try await wait { !sent.isEmpty }
        #expect(sent.map(\.id) == [message.id])
        #expect(sent.map(\.name) == ["message"])

        // The article: "To unsubscribe from a topic, we can invoke unsubscribe(_:)"
        courierClient.unsubscribe("chat/user1")
        try await wait { analytics.unsubscribed == ["chat/user1"] }
        // Subscribe again, so that both filters of the array have a subscription to end.
        courierClient.subscribe(("chat/user1", QoS.zero), ("order/", QoS.zero))
        try await wait { analytics.granted.isSuperset(of: ["chat/user1", "order/"]) }
        courierClient.unsubscribe([
            "chat/user1",
            "order/",
        ])
        try await wait { analytics.unsubscribed.count == 3 }
        #expect(analytics.unsubscribed.suffix(2).sorted() == ["chat/user1", "order/"])
        #expect(analytics.granted == ["order/1234", "order/123456", "chat/1234"])

        // The article: "To disconnect, you just need to invoke disconnect method"
        courierClient.disconnect()
        try await wait { courierClient.connectionState == .disconnected && states.last == .disconnected }
        #expect(states == [.disconnected, .connecting, .connected, .disconnected])

        // The article: "To disconnect and remove all of this cache, you can invoke destroy"
        courierClient.destroy()
        try await wait { !courierClient.hasExistingSession }
        await broker.stop()
    }
}
