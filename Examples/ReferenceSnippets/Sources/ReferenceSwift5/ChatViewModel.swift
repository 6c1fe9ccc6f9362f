import CourierCore
import CourierMQTT
import CourierMQTTChuck
import CourierProtobuf
import Foundation

struct Note: Codable {
    let title: String
}

struct Message: Codable {
    let id: String
    let name: String
    let timestamp: Date
}

struct ServerError: Decodable, Error {
    let reason: String
}

class ChatViewModel {
    private var cancellables = Set<AnyCancellable>()
    private var subscriptions = [AnyCancellable]()
    private(set) var messages = [Message]()
    private(set) var stateText = ""

    let analytics = Analytics()
    let logger = MQTTChuckLogger()
    let courierClient: CourierClient
    var courierService: CourierClient? { courierClient }

    init() {
        let clientFactory = CourierClientFactory()
        courierClient = clientFactory.makeMQTTClient(
            config: MQTTClientConfig(
                authService: HiveMQAuthService(),
                messageAdapters: [
                    JSONMessageAdapter(),
                    ProtobufMessageAdapter(),
                ],
                autoReconnectInterval: 1,
                maxAutoReconnectInterval: 30
            )
        )
    }

    func start() {
        courierClient.addEventHandler(analytics)
        courierClient.connect()

        courierClient.connectionStatePublisher
            .sink { [weak self] in self?.handleConnectionStateEvent($0) }
            .store(in: &cancellables)
        handleConnectionStateEvent(courierClient.connectionState)
    }

    func subscribe() {
        courierClient.subscribe(("chat/user1", QoS.zero))
        courierClient.subscribe([
            ("chat/user1", QoS.zero),
            ("order/1234", QoS.one),
            ("order/123456", QoS.two),
        ])
    }

    func read(topic: String) {
        courierClient.messagePublisher(topic: topic)
            .sink { [weak self] (note: Note) in
                self?.messages.insert(
                    Message(id: UUID().uuidString, name: "Protobuf: \(note.title)", timestamp: Date()), at: 0)
            }.store(in: &cancellables)

        courierClient.messagePublisher(topic: topic)
            .filter { (message: Message) in !message.name.isEmpty }
            .map { $0.name }
            .sink { [weak self] in self?.stateText = $0 }
            .store(in: &subscriptions)

        courierClient.messagePublisher(topic: topic, errorDecodeHandler: { (error: ServerError) in error })
            .sink { [weak self] (result: Result<Note, NSError>) in
                switch result {
                case .success(let note): self?.stateText = note.title
                case .failure(let error): self?.stateText = error.localizedDescription
                }
            }.store(in: &cancellables)

        courierClient.messagePublisher()
            .filter(predicate: { $0.qos != .zero })
            .map(transform: { "\($0.topic): \($0.data.count)" })
            .sink(receiveValue: { [weak self] in self?.stateText = $0 })
            .store(in: &cancellables)
    }

    func send(message: String) {
        let message = Message(
            id: UUID().uuidString,
            name: message,
            timestamp: Date()
        )
        try? courierService?.publishMessage(
            message,
            topic: "chat/1234",
            qos: QoS.zero
        )
    }

    func stop() {
        courierClient.unsubscribe("chat/user1")
        courierClient.unsubscribe([
            "chat/user1",
            "order/",
        ])
        courierClient.removeEventHandler(analytics)
        if courierClient.hasExistingSession { courierClient.disconnect() }
    }

    func signOut() {
        courierClient.destroy()
    }

    func reconnect() {
        courierClient.connect(source: "button")
    }

    private func handleConnectionStateEvent(_ state: ConnectionState) {
        switch state {
        case .connecting: stateText = "connecting"
        case .connected: stateText = "connected"
        case .disconnected: stateText = "disconnected"
        }
    }
}

enum Topics {
    static let notes = Topic<Note>("chat/{room}/notes", qos: .one)
}

extension ChatViewModel {
    func modern(_ note: Note) async throws {
        let client = courierClient
        try await client.connected()
        let receipt = try await client.publish(note, to: "orders/7", qos: .one)
        stateText = receipt.reasonCode.name
        try await client.publish(note, to: Topics.notes(room: "7"))
        for try await note in client.messages(Note.self, from: "chat/+/notes", qos: .one) { stateText = note.title }
        for await event in client.events { analytics.onEvent(event) }
    }
}
