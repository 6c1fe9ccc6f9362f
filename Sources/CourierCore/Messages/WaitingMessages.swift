/// The messages of a client that wait to be sent, at one moment. ``CourierSession/waiting`` returns them.
///
/// ```swift
/// let waiting = try await client.waiting
/// print("\(waiting.count) messages wait.")
/// for message in waiting.oldest { print(message.topic, message.byteCount, message.age) }
/// ```
///
/// A message waits until the client begins to send it. Messages in flight do not wait. When the first attempt to
/// connect has opened the message store, messages that an earlier process stored are included.
public struct WaitingMessages: Sendable {
    /// The maximum number of messages in ``oldest``, 1,000.
    public static let listLimit = 1_000

    /// The number of all waiting messages.
    public var count: Int

    /// The number of bytes of waiting messages that count toward `offline.maximumBytes`.
    public var byteCount: Int

    /// The oldest waiting messages, oldest first; at most ``listLimit``.
    public var oldest: [WaitingMessage]

    /// Makes a list of waiting messages. Apps need this initializer only in tests.
    ///
    /// - Parameters:
    ///   - count: The number of all waiting messages; 0 by default.
    ///   - byteCount: The number of their bytes; 0 by default.
    ///   - oldest: The oldest messages; none by default.
    public init(count: Int = 0, byteCount: Int = 0, oldest: [WaitingMessage] = []) {
        self.count = count
        self.byteCount = byteCount
        self.oldest = oldest
    }
}

/// A message that waits to be sent.
public struct WaitingMessage: Sendable {
    /// The topic name.
    public var topic: String

    /// The quality of service.
    public var qos: QoS

    /// The number of bytes of topic, properties and payload. If an earlier process stored the message, the number may
    /// not include the properties.
    public var byteCount: Int

    /// The time since the client accepted the message. The age is exact if the message has an expiry or is stored.
    /// Otherwise, the age may be too long if the client was connected when it accepted the message. The error is at
    /// most the time that the connection had been idle until then.
    public var age: Duration

    /// True if the message is in the message store, so that it survives the end of the process.
    public var isStored: Bool

    /// Makes a waiting message. Apps need this initializer only in tests.
    ///
    /// - Parameters:
    ///   - topic: The topic name.
    ///   - qos: The quality of service.
    ///   - byteCount: The number of bytes of topic, properties and payload.
    ///   - age: The time since the client accepted the message.
    ///   - isStored: Whether the message is in the message store; `false` by default.
    public init(topic: String, qos: QoS, byteCount: Int, age: Duration, isStored: Bool = false) {
        self.topic = topic
        self.qos = qos
        self.byteCount = byteCount
        self.age = age
        self.isStored = isStored
    }
}
