/// A value with the message it was decoded from, for readers that want both.
///
/// Ask for it wherever a type to decode is named; a topic filter with wildcards is where it is needed most:
///
/// ```swift
/// for try await note in client.messages(Received<Note>.self, from: "chat/+/notes") {
///     print(note.topic, note.value.title)
/// }
/// ```
///
/// The adapters decode the `Value`, as they do without it, and what they cannot decode is reported in the same way.
/// With ``AcknowledgementMode/afterProcessing`` its ``message`` can be acknowledged by hand.
public struct Received<Value: Sendable>: Sendable {
    /// What the message says.
    public let value: Value

    /// The message as it came.
    public let message: Message

    /// Joins the two; apps need it in tests only.
    ///
    /// - Parameters:
    ///   - value: What the message says.
    ///   - message: The message as it came.
    public init(value: Value, message: Message) {
        self.value = value
        self.message = message
    }

    /// The topic name it was published to.
    public var topic: String { message.topic }
}

extension Received: Equatable where Value: Equatable {}
extension Received: Hashable where Value: Hashable {}

extension Received: ValueWithMessage {}

/// A type of values that come with the message they were read from; a test double of ``CourierSession`` asks for it.
///
/// It says what a reader that meets such a type has to know of it: which type to decode, and how to make the whole.
/// ``Received`` is the only one.
public protocol ValueWithMessage: Sendable {
    /// The type to decode.
    associatedtype Value: Sendable

    /// Joins the two.
    ///
    /// - Parameters:
    ///   - value: What the message says.
    ///   - message: The message as it came.
    init(value: Value, message: Message)
}
