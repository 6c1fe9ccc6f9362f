public import Foundation

/// What an MQTT 5 message says about itself beside its payload; 3.1.1 carries none of it.
public struct MessageProperties: Hashable, Sendable {
    /// One user property; names may repeat, and order is kept.
    public struct UserProperty: Hashable, Sendable {
        /// The name.
        public var name: String

        /// The value.
        public var value: String

        /// Joins a name and a value.
        ///
        /// - Parameters:
        ///   - name: The name.
        ///   - value: The value.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// What the sender promises about the payload's bytes.
    public enum PayloadFormat: Hashable, Sendable {
        /// Nothing.
        case unspecified

        /// They are well-formed UTF-8.
        case utf8
    }

    /// The MIME type of the payload; `nil` sends the adapter's ``MessageAdapter/contentType``.
    public var contentType: String?

    /// What the payload's bytes are; ``PayloadFormat/unspecified`` by default.
    public var payloadFormat: PayloadFormat

    /// The topic on which the sender awaits an answer; `nil` when it awaits none.
    public var responseTopic: String?

    /// What an answer must repeat so that the asker knows which question it answers; at most 65,535 bytes.
    public var correlationData: Data?

    /// How long the message is of use, counted from publishing, in whole seconds on the wire; `nil` for ever.
    public var messageExpiry: Duration?

    /// The app's own properties, in order.
    public var userProperties: [UserProperty]

    /// No properties: made once, for the many messages that say nothing.
    @usableFromInline package static let empty = MessageProperties()

    /// Collects properties; all are absent by default.
    ///
    /// - Parameters:
    ///   - contentType: The MIME type of the payload.
    ///   - payloadFormat: What the payload's bytes are.
    ///   - responseTopic: The topic for an answer.
    ///   - correlationData: What an answer must repeat.
    ///   - messageExpiry: How long the message is of use.
    ///   - userProperties: The app's own properties.
    public init(
        contentType: String? = nil,
        payloadFormat: PayloadFormat = .unspecified,
        responseTopic: String? = nil,
        correlationData: Data? = nil,
        messageExpiry: Duration? = nil,
        userProperties: [UserProperty] = []
    ) {
        self.contentType = contentType
        self.payloadFormat = payloadFormat
        self.responseTopic = responseTopic
        self.correlationData = correlationData
        self.messageExpiry = messageExpiry
        self.userProperties = userProperties
    }
}
