import CourierCore

/// The topics of the chat, each with the type of its messages.
enum ChatTopics {
    /// What is said in a room; not retained.
    static let messages = Topic<ChatMessage>("courier-chat/rooms/{room}/messages", qos: .one)
    /// Who is there: retained by whoever it is, and cleared when they go, by themselves or by their will. A client has one
    /// will only, so the rooms are in the message and not in the topic.
    static let people = Topic<ChatPresence>("courier-chat/people/{person}", qos: .one)

    static func messages(in room: ChatName) -> Topic<ChatMessage> { messages(room: room.level) }

    static func presence(of person: String) -> Topic<ChatPresence> { people(person: TopicLevel.escape(person)) }
}
