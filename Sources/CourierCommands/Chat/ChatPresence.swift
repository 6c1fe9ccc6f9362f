import CourierCore
import CourierMQTT
import Foundation

/// Whether a person is present, and in which rooms.
struct ChatPresence: Hashable, Sendable {
    /// A person's own description as JSON: `{"name":"ada","rooms":["lobby"]}`.
    struct Card: Codable, Hashable, Sendable {
        /// The maximum number of rooms in a received card. Further rooms are ignored.
        static let roomLimit = 32

        var name: String
        var rooms: [String]

        init(name: String, rooms: [String]) {
            self.name = name
            self.rooms = rooms
        }

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            name = ChatName.heard(try fields.decode(String.self, forKey: .name))
            rooms = try fields.decode([String].self, forKey: .rooms).prefix(Self.roomLimit)
                .map { $0.prefix(bytes: ChatName.byteLimit) }
        }
    }

    /// The client id, which is in the topic.
    var person: String
    /// The card of the person; `nil` if the person has left. The message is then empty, which also clears the retained
    /// message [MQTT-3.3.1-6].
    var card: Card?
}

/// Encodes and decodes presence messages. An empty message means that the person has left. The topic contains the
/// client id.
struct ChatPresenceAdapter: MessageAdapter {
    private let json = JSONMessageAdapter()

    var contentType: String { json.contentType }

    func fromMessage<T>(_ message: Data, topic: String) throws -> T {
        guard T.self == ChatPresence.self,
            let level = try ChatTopics.people.arguments(in: TopicName(topic))?["person"],
            let person = TopicLevel.text(of: level), person.utf8.count <= ChatMessage.idLimit,
            let presence = ChatPresence(
                person: person, card: message.isEmpty ? nil : try json.fromMessage(message, topic: topic)) as? T
        else { throw CourierError(.decodingFailed, "the message topic does not name a person of the chat") }
        return presence
    }

    func toMessage<T>(data: T, topic: String) throws -> Data {
        guard let presence = data as? ChatPresence else {
            throw CourierError(.encodingFailed, "a value of the type \(T.self) is not a presence message")
        }
        return try presence.card.map { try json.toMessage(data: $0, topic: topic) } ?? Data()
    }
}
