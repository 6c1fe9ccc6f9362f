public import Foundation

/// A message as a store keeps it, in either direction.
public struct StoredMessage: Hashable, Sendable {
    /// The place of a message in its scope and direction. The client gives ids out in growing order, so order of ids
    /// is order of messages; a restarted client continues above ``StoreSummary/lastMessageID``.
    public struct ID: RawRepresentable, Hashable, Comparable, Sendable {
        /// The number.
        public let rawValue: UInt64

        /// Makes an id of its number.
        public init(rawValue: UInt64) { self.rawValue = rawValue }

        /// Orders by age, older first.
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

    /// Whether it is (to be) a retained message.
    public let isRetained: Bool

    /// The properties of MQTT 5.
    public let properties: MessageProperties

    /// When it was accepted or received.
    public let storedAt: Date

    /// When it is of no more use; `nil` for never. A store may drop an expired incoming message by itself, an
    /// outgoing one never. An outgoing one is given up then if it was not sent, by its own
    /// ``MessageProperties/messageExpiry`` or because the client lets none wait longer; the broker is told of the
    /// former only.
    public let expiresAt: Date?

    /// The time since the boot at which it was accepted or received; `nil` if it is not known, as of a message that an
    /// earlier version of this library stored. See ``age(at:)``.
    public let bootTime: BootTime?

    /// Whether it is an outgoing message of which only the latest on its topic counts: a newer one replaces it while it
    /// waits.
    public let isLatestOnly: Bool

    /// Collects the fields.
    ///
    /// - Parameters:
    ///   - id: The message's id.
    ///   - topic: The topic name.
    ///   - payload: The payload.
    ///   - qos: The quality of service.
    ///   - isRetained: Whether it is a retained message; `false` by default.
    ///   - properties: The properties of MQTT 5; empty by default.
    ///   - storedAt: When it was accepted or received.
    ///   - expiresAt: When it is of no more use; `nil` by default.
    ///   - bootTime: The time since the boot at which it was accepted or received; `nil` by default.
    ///   - isLatestOnly: Whether only the latest message on its topic counts; `false` by default.
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
    /// Id, topic, quality of service and size; never the payload or the properties.
    public var description: String {
        let marks = (isRetained ? ", retained" : "") + (isLatestOnly ? ", latest only" : "")
        return "StoredMessage(\(id.rawValue), \(topic.quoted()), qos: \(qos), \(payload.count) bytes\(marks))"
    }

    /// The same text as ``description``.
    public var debugDescription: String { description }

    /// Shows the same facts as ``description``, so that `dump` and debuggers show no payload either.
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
