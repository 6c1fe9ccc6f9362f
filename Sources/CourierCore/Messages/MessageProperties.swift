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

    private struct Values: Hashable, Sendable {
        var contentType: String?
        var payloadFormat = PayloadFormat.unspecified
        var responseTopic: String?
        var correlationData: Data?
        var messageExpiry: Duration?
        var userProperties: [UserProperty] = []
        var subscriptionIdentifiers: [UInt32] = []

        var isEmpty: Bool {
            contentType == nil && payloadFormat == .unspecified && responseTopic == nil && correlationData == nil
                && messageExpiry == nil && userProperties.isEmpty && subscriptionIdentifiers.isEmpty
        }
    }

    private final class Box: Sendable {
        let values: Values

        init(_ values: Values) { self.values = values }
    }

    /// `nil` when nothing is said, as of most messages; one reference else, because requests and messages are moved about
    /// many times and each has these.
    private var box: Box?

    private var values: Values {
        get { box?.values ?? Values() }
        set { box = newValue.isEmpty ? nil : Box(newValue) }
    }

    /// Whether nothing is said.
    package var isEmpty: Bool { box == nil }

    /// The MIME type of the payload; `nil` sends the adapter's ``MessageAdapter/contentType``.
    public var contentType: String? {
        get { box?.values.contentType }
        set { values.contentType = newValue }
    }

    /// What the payload's bytes are; ``PayloadFormat/unspecified`` by default.
    public var payloadFormat: PayloadFormat {
        get { box?.values.payloadFormat ?? .unspecified }
        set { values.payloadFormat = newValue }
    }

    /// The topic on which the sender awaits an answer; `nil` when it awaits none.
    public var responseTopic: String? {
        get { box?.values.responseTopic }
        set { values.responseTopic = newValue }
    }

    /// What an answer must repeat so that the asker knows which question it answers; at most 65,535 bytes.
    public var correlationData: Data? {
        get { box?.values.correlationData }
        set { values.correlationData = newValue }
    }

    /// How long the message is of use, counted from publishing, in whole seconds on the wire; `nil` for ever.
    public var messageExpiry: Duration? {
        get { box?.values.messageExpiry }
        set { values.messageExpiry = newValue }
    }

    /// The app's own properties, in order.
    public var userProperties: [UserProperty] {
        get { box?.values.userProperties ?? [] }
        set { values.userProperties = newValue }
    }

    /// The identifiers of the subscriptions that a received message matched, as far as the app chose them with
    /// ``SubscriptionRequest/identifier``; empty otherwise. They are not published, and a message store does not keep them.
    public package(set) var subscriptionIdentifiers: [UInt32] {
        get { box?.values.subscriptionIdentifiers ?? [] }
        set { values.subscriptionIdentifiers = newValue }
    }

    /// No properties, for the many messages that say nothing.
    @usableFromInline package static var empty: MessageProperties { MessageProperties() }

    @usableFromInline package init() {}

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
        values = Values(
            contentType: contentType, payloadFormat: payloadFormat, responseTopic: responseTopic,
            correlationData: correlationData, messageExpiry: messageExpiry, userProperties: userProperties)
    }

    /// Two that say the same are equal.
    public static func == (one: MessageProperties, other: MessageProperties) -> Bool {
        one.box === other.box || one.values == other.values
    }

    /// Hashes what is said.
    public func hash(into hasher: inout Hasher) { hasher.combine(values) }
}
