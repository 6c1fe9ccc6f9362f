public import Foundation

/// A message in a store, outgoing or incoming.
public struct StoredMessage: Hashable, Sendable {
    /// The number of a message in its scope and direction (outgoing or incoming). The client assigns ids in growing
    /// order, so a later message has a higher id. After a restart, the client assigns ids above
    /// ``StoreSummary/lastMessageID``.
    public struct ID: RawRepresentable, Hashable, Comparable, Sendable {
        /// The number.
        public let rawValue: UInt64

        /// Creates an id from its number.
        public init(rawValue: UInt64) { self.rawValue = rawValue }

        /// Compares the numbers: an older message has the smaller id.
        public static func < (left: ID, right: ID) -> Bool { left.rawValue < right.rawValue }
    }

    /// The message's id.
    public let id: ID

    /// The topic name.
    public let topic: String

    /// The payload.
    public let payload: [UInt8]

    /// The quality of service, ``QoS/one`` or ``QoS/two``.
    public let qos: QoS

    /// For an outgoing message, whether the broker must retain the message. For an incoming message, whether the broker
    /// sent the message as a retained message.
    public let isRetained: Bool

    /// The properties of MQTT 5.
    public let properties: MessageProperties

    /// The date when the client accepted the outgoing message, or received the incoming message.
    public let storedAt: Date

    /// The date when the message expires; `nil` for never.
    ///
    /// A store may remove an expired incoming message, but never an outgoing message. The client itself removes an
    /// outgoing message that expires before it was sent.
    ///
    /// The expiry of an outgoing message is the earlier of two limits: its ``MessageProperties/messageExpiry``, and the
    /// client's limit for waiting messages. Only `messageExpiry` is sent to the broker.
    public let expiresAt: Date?

    /// The time between the boot and the moment when the client accepted or received the message. `nil` if the time is
    /// not known, for example if an earlier version of this library stored the message. See ``age(at:)``.
    public let bootTime: BootTime?

    /// Whether a newer latest-only message to the same topic replaces this outgoing message while it waits to be sent.
    public let isLatestOnly: Bool

    /// Creates a stored message.
    ///
    /// - Parameters:
    ///   - id: The message's id.
    ///   - topic: The topic name.
    ///   - payload: The payload.
    ///   - qos: The quality of service.
    ///   - isRetained: For an outgoing message, whether the broker must retain the message. For an incoming message,
    ///     whether the broker sent the message as a retained message. `false` by default.
    ///   - properties: The properties of MQTT 5; empty by default.
    ///   - storedAt: The date when the client accepted or received the message.
    ///   - expiresAt: The date when the message expires; `nil` by default.
    ///   - bootTime: The time between the boot and the moment when the message was accepted or received; `nil` by
    ///     default.
    ///   - isLatestOnly: Whether a newer latest-only message to the same topic replaces it while it waits; `false` by
    ///     default.
    public init(
        id: ID,
        topic: String,
        payload: [UInt8],
        qos: QoS,
        isRetained: Bool = false,
        properties: MessageProperties = MessageProperties(),
        storedAt: Date,
        expiresAt: Date? = nil,
        bootTime: BootTime? = nil,
        isLatestOnly: Bool = false
    ) {
        self.id = id
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.isRetained = isRetained
        self.properties = properties
        self.storedAt = storedAt
        self.expiresAt = expiresAt
        self.bootTime = bootTime
        self.isLatestOnly = isLatestOnly
    }
}

extension StoredMessage: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A text with the id, topic, quality of service and size, but without the payload and the properties.
    public var description: String {
        let marks = (isRetained ? ", retained" : "") + (isLatestOnly ? ", latest only" : "")
        return "StoredMessage(\(id.rawValue), \(topic.quoted()), qos: \(qos), \(payload.count) bytes\(marks))"
    }

    /// The same text as ``description``.
    public var debugDescription: String { description }

    /// Shows the same fields as ``description``, so that `dump` and debuggers show no payload either.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "id": id.rawValue, "topic": topic, "qos": qos, "payload": "\(payload.count) bytes",
                "isRetained": isRetained, "isLatestOnly": isLatestOnly,
            ],
            displayStyle: .struct)
    }
}
