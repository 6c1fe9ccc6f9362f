/// A decoded value together with its message.
///
/// Use this type instead of the type to decode. It is most useful if the topic filter has wildcards, because its
/// `message` contains the topic:
///
/// ```swift
/// for try await note in client.messages(Received<Note>.self, from: "chat/+/notes") {
///     print(note.topic, note.value.title)
/// }
/// ```
///
/// The adapters decode `Value` in the same way as without this type, and report the same failures. With
/// ``AcknowledgementMode/afterProcessing``, you can acknowledge the ``message`` yourself.
public struct Received<Value: Sendable>: Sendable {
    /// The decoded value.
    public let value: Value

    /// The received message.
    public let message: Message

    /// Creates a value with its message. Apps need this initializer only in tests.
    ///
    /// - Parameters:
    ///   - value: The decoded value.
    ///   - message: The received message.
    public init(value: Value, message: Message) {
        self.value = value
        self.message = message
    }

    /// The topic name that the message was published to.
    public var topic: String { message.topic }
}

extension Received: Equatable where Value: Equatable {}
extension Received: Hashable where Value: Hashable {}

extension Received: ValueWithMessage {}

/// A type that contains a decoded value and its message. ``Received`` is the only such type in this library.
///
/// If a reader requests a type of this protocol, the session decodes its `Value` and creates the result with
/// `init(value:message:)`. If you write your own type that conforms to ``CourierSession``, for example for tests, use
/// this protocol in the same way.
public protocol ValueWithMessage: Sendable {
    /// The type to decode.
    associatedtype Value: Sendable

    /// Creates an instance from the decoded value and its message.
    ///
    /// - Parameters:
    ///   - value: The decoded value.
    ///   - message: The received message.
    init(value: Value, message: Message)
}
