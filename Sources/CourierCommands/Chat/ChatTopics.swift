import CourierCore

/// The topics of the chat, each with the type of its messages.
enum ChatTopics {
    /// The messages of a room; not retained.
    static let messages = Topic<ChatMessage>("courier-chat/rooms/{room}/messages", qos: .one)
    /// The people who are present. Each client publishes its own card as a retained message. When the person leaves,
    /// the client or its will clears the card. A client has only one will, so one card lists all rooms of the person.
    static let people = Topic<ChatPresence>("courier-chat/people/{person}", qos: .one)

    static func messages(in room: ChatName) -> Topic<ChatMessage> { messages(room: room.level) }

    static func presence(of person: String) -> Topic<ChatPresence> { people(person: TopicLevel.escape(person)) }
}
