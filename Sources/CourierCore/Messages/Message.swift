public import Foundation

/// A received message as it came: topic, bytes, and what the broker said about it.
public struct Message: Hashable, Sendable {
    /// The payload.
    public let data: Data

    /// The topic name it was published to.
    public let topic: String

    /// The quality of service it was delivered with.
    public let qos: QoS

    /// The packet id of its delivery; `nil` for QoS 0. Unique only until the message is acknowledged.
    public let packetID: UInt16?

    /// Whether the broker had kept it for new subscribers and it is not fresh.
    public let isRetained: Bool

    /// Whether the broker marked it as sent before; a fresh delivery never has the mark, a marked one may still be
    /// new here.
    public let isDuplicate: Bool

    /// The properties of MQTT 5; all empty in 3.1.1.
    public let properties: MessageProperties

    /// How the reader that got it acknowledges it; `nil` when there is nothing to acknowledge.
    private let acknowledgement: (any MessageAcknowledgement)?

    /// Collects what is known about a message; apps need it in tests only.
    ///
    /// - Parameters:
    ///   - data: The payload.
    ///   - topic: The topic name.
    ///   - qos: The quality of service.
    ///   - packetID: The packet id; `nil` by default.
    ///   - isRetained: Whether it was kept by the broker; `false` by default.
    ///   - isDuplicate: Whether it is marked as sent before; `false` by default.
    ///   - properties: The properties of MQTT 5; empty by default.
    public init(
        data: Data,
        topic: String,
        qos: QoS,
        packetID: UInt16? = nil,
        isRetained: Bool = false,
        isDuplicate: Bool = false,
        properties: MessageProperties = MessageProperties()
    ) {
        self.data = data
        self.topic = topic
        self.qos = qos
        self.packetID = packetID
        self.isRetained = isRetained
        self.isDuplicate = isDuplicate
        self.properties = properties
        acknowledgement = nil
    }

    /// The same for a message that its reader acknowledges.
    package init(
        data: Data, topic: String, qos: QoS, packetID: UInt16?, isRetained: Bool, isDuplicate: Bool,
        properties: MessageProperties, acknowledgement: (any MessageAcknowledgement)?
    ) {
        self.data = data
        self.topic = topic
        self.qos = qos
        self.packetID = packetID
        self.isRetained = isRetained
        self.isDuplicate = isDuplicate
        self.properties = properties
        self.acknowledgement = acknowledgement
    }

    /// Says that this reader is done with the message, earlier than asking for the next one would say it.
    ///
    /// It has an effect on what was read with ``AcknowledgementMode/afterProcessing``, once; otherwise it does
    /// nothing. From any thread; it does not block.
    public func acknowledge() { acknowledgement?.acknowledge() }

    /// The payload; another name for ``data``.
    public var payload: Data { data }

    /// The payload as text, `nil` when it is not valid UTF-8.
    public var payloadString: String? { String(data: data, encoding: .utf8) }
}

extension Message {
    /// Compares what is known about the messages, not who reads them.
    public static func == (left: Message, right: Message) -> Bool {
        left.topic == right.topic && left.data == right.data && left.qos == right.qos
            && left.packetID == right.packetID && left.isRetained == right.isRetained
            && left.isDuplicate == right.isDuplicate && left.properties == right.properties
    }

    /// Hashes what is compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(topic)
        hasher.combine(data)
        hasher.combine(qos)
        hasher.combine(packetID)
        hasher.combine(isRetained)
        hasher.combine(isDuplicate)
        hasher.combine(properties)
    }
}

/// One reader's part in the acknowledgement of one message. Safe to call more than once and from any thread.
package protocol MessageAcknowledgement: AnyObject, Sendable {
    /// This reader is done with it.
    func acknowledge()
}

extension Message: CustomStringConvertible, CustomDebugStringConvertible {
    /// Topic, quality of service and size; never the payload.
    public var description: String {
        let marks = (isRetained ? ", retained" : "") + (isDuplicate ? ", duplicate" : "")
        return "Message(\(topic.quoted()), qos: \(qos), \(data.count) bytes\(marks))"
    }

    /// The same text as ``description``.
    public var debugDescription: String { description }
}
