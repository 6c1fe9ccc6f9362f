/// A message in a room, as JSON: `{"id":"…","person":"…","name":"ada","text":"hello","isAction":false,"time":1}`.
///
/// Only `text` is required, so that another program can take part with a line of mosquitto_pub.
struct ChatMessage: Codable, Hashable, Sendable {
    /// The maximum size of a text in UTF-8 bytes. Longer texts of other people are cut.
    static let textLimit = 4_000
    /// The maximum size of a message id or client id in UTF-8 bytes.
    static let idLimit = 1_024

    /// The message id, which is unique among all messages of this person.
    var id = ""
    /// The client id of the sender.
    var person = ""
    var name = ChatName.somebody
    var text: String
    /// Whether the text describes an action: `/me waves`.
    var isAction = false
    /// The time of sending, in seconds since 1970.
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
