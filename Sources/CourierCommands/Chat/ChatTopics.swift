import CourierCore

/// The topics of the chat, each with the type of its messages.
enum ChatTopics {
    /// The messages of a room; not retained.
    static let messages = Topic<ChatMessage>("courier-chat/rooms/{room}/messages", qos: .one)
    /// The present people. Each client retains its own card. The client or its will clears the card when the person
    /// leaves. A client has only one will, so the card contains all rooms.
    static let people = Topic<ChatPresence>("courier-chat/people/{person}", qos: .one)

    static func messages(in room: ChatName) -> Topic<ChatMessage> { messages(room: room.level) }

    static func presence(of person: String) -> Topic<ChatPresence> { people(person: TopicLevel.escape(person)) }
}
