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

    /// What a message may say about itself. All is absent at first.
    package struct Values: Hashable, Sendable {
        package var contentType: String?
        package var payloadFormat = PayloadFormat.unspecified
        package var responseTopic: String?
        package var correlationData: Data?
        package var messageExpiry: Duration?
        package var userProperties: [UserProperty] = []
        package var subscriptionIdentifiers: [UInt32] = []

        package init() {}

        fileprivate var isEmpty: Bool {
            contentType == nil && payloadFormat == .unspecified && responseTopic == nil && correlationData == nil
                && messageExpiry == nil && userProperties.isEmpty && subscriptionIdentifiers.isEmpty
        }
    }

    /// Holds the values of a message that has some.
    @usableFromInline
    package final class Box: Sendable {
        package let values: Values

        fileprivate init(_ values: consuming Values) { self.values = values }
    }

    /// `nil` when all values are absent, as in most messages. One reference else, because requests and messages are copied
    /// many times and each has properties.
    @usableFromInline package private(set) var box: Box?

    private var values: Values {
        get { box?.values ?? Values() }
        set { box = newValue.isEmpty ? nil : Box(newValue) }
    }

    /// Whether all values are absent.
    @inlinable package var isEmpty: Bool { box == nil }

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

    /// How much memory the values take, about.
    package var heldByteCount: Int {
        guard let values = box?.values else { return 0 }
        let texts = (values.contentType?.heldByteCount ?? 0) + (values.responseTopic?.heldByteCount ?? 0)
        let data = values.correlationData.map { $0.count + Self.overhead } ?? 0
        return values.userProperties.reduce(MemoryLayout<Values>.stride + texts + data) {
            $0 + MemoryLayout<UserProperty>.stride + $1.name.heldByteCount + $1.value.heldByteCount
        }
    }

    /// What a block of memory takes beside its contents, about.
    private static let overhead = 64

    /// No properties, for the many messages that say nothing.
    @usableFromInline package static var empty: MessageProperties { MessageProperties() }

    @usableFromInline package init() {}

    /// The properties with these values.
    package init(_ values: consuming Values) { box = values.isEmpty ? nil : Box(values) }

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
        var values = Values()
        values.contentType = contentType
        values.payloadFormat = payloadFormat
        values.responseTopic = responseTopic
        values.correlationData = correlationData
        values.messageExpiry = messageExpiry
        values.userProperties = userProperties
        self.init(values)
    }

    /// Two that say the same are equal.
    public static func == (one: MessageProperties, other: MessageProperties) -> Bool {
        one.box === other.box || one.values == other.values
    }

    /// Hashes what is said.
    public func hash(into hasher: inout Hasher) { hasher.combine(values) }
}
