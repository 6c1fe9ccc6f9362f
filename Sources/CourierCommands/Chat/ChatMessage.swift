/// What somebody says in a room, as JSON: `{"id":"…","person":"…","name":"ada","text":"hello","isAction":false,"time":1}`.
///
/// Only `text` must be there, so that a line of mosquitto_pub is enough for a program that wants to say something.
struct ChatMessage: Codable, Hashable, Sendable {
    /// How many bytes of UTF-8 a text has; of one that others have made longer, no more are read.
    static let textLimit = 4_000
    /// How many bytes of UTF-8 an id has, that of a message or a client.
    static let idLimit = 1_024

    /// Unlike that of every other message of this person.
    var id = ""
    /// The client id.
    var person = ""
    var name = ChatName.somebody
    var text: String
    /// Whether it tells what somebody does: `/me waves`.
    var isAction = false
    /// When it was said, in seconds since 1970.
    var time: Double?

    init(id: String, person: String, name: String, text: String, isAction: Bool, time: Double) {
        self.id = id
        self.person = person
        self.name = name
        self.text = text
        self.isAction = isAction
        self.time = time
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        text = try fields.decode(String.self, forKey: .text).prefix(bytes: Self.textLimit)
        id = try fields.decodeIfPresent(String.self, forKey: .id)?.prefix(bytes: Self.idLimit) ?? id
        person = try fields.decodeIfPresent(String.self, forKey: .person)?.prefix(bytes: Self.idLimit) ?? person
        name = try fields.decodeIfPresent(String.self, forKey: .name).map(ChatName.heard) ?? name
        isAction = try fields.decodeIfPresent(Bool.self, forKey: .isAction) ?? isAction
        time = try fields.decodeIfPresent(Double.self, forKey: .time)
    }
}
