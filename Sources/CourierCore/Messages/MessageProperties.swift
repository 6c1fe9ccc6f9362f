public import Foundation

/// The properties of an MQTT 5 message. MQTT 3.1.1 carries none of these properties.
public struct MessageProperties: Hashable, Sendable {
    /// One user property. Several properties may have the same name, and their order is preserved.
    public struct UserProperty: Hashable, Sendable {
        /// The name.
        public var name: String

        /// The value.
        public var value: String

        /// Creates a user property.
        ///
        /// - Parameters:
        ///   - name: The name.
        ///   - value: The value.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The format of the payload, as the sender declares it.
    public enum PayloadFormat: Hashable, Sendable {
        /// The sender declares no format.
        case unspecified

        /// The payload is well-formed UTF-8.
        case utf8
    }

    /// The values of all properties. All properties are absent by default.
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

    /// Holds the property values of a message that has at least one property.
    @usableFromInline
    package final class Box: Sendable {
        package let values: Values

        fileprivate init(_ values: consuming Values) { self.values = values }
    }

    /// The property values; `nil` if all are absent, as in most messages. The values are in a separate object. So this
    /// struct has the size of one reference, and copies of requests and messages are cheap.
    @usableFromInline package private(set) var box: Box?

    private var values: Values {
        get { box?.values ?? Values() }
        set { box = newValue.isEmpty ? nil : Box(newValue) }
    }

    /// Whether all properties are absent.
    @inlinable package var isEmpty: Bool { box == nil }

    /// The MIME type of the payload. If it is `nil`, the client sends the adapter's ``MessageAdapter/contentType``.
    public var contentType: String? {
        get { box?.values.contentType }
        set { values.contentType = newValue }
    }

    /// The declared format of the payload; ``PayloadFormat/unspecified`` by default.
    public var payloadFormat: PayloadFormat {
        get { box?.values.payloadFormat ?? .unspecified }
        set { values.payloadFormat = newValue }
    }

    /// The topic on which the sender expects the response; `nil` if the sender expects no response.
    public var responseTopic: String? {
        get { box?.values.responseTopic }
        set { values.responseTopic = newValue }
    }

    /// Data that the response must repeat, so that the requester can find its request; at most 65,535 bytes.
    public var correlationData: Data? {
        get { box?.values.correlationData }
        set { values.correlationData = newValue }
    }

    /// The lifetime of the message, counted from publishing; `nil` for no limit. The client sends the lifetime in whole
    /// seconds.
    public var messageExpiry: Duration? {
        get { box?.values.messageExpiry }
        set { values.messageExpiry = newValue }
    }

    /// The user properties of the message, in the order in which they are sent.
    public var userProperties: [UserProperty] {
        get { box?.values.userProperties ?? [] }
        set { values.userProperties = newValue }
    }

    /// The identifiers of the subscriptions that a received message matched. The list contains only identifiers that
    /// the app chose with ``SubscriptionRequest/identifier``. They are not sent with a published message, and a message
    /// store does not keep them.
    public package(set) var subscriptionIdentifiers: [UInt32] {
        get { box?.values.subscriptionIdentifiers ?? [] }
        set { values.subscriptionIdentifiers = newValue }
    }

    /// The approximate memory of the values, in bytes.
    package var heldByteCount: Int {
        guard let values = box?.values else { return 0 }
        let texts = (values.contentType?.heldByteCount ?? 0) + (values.responseTopic?.heldByteCount ?? 0)
        let data = values.correlationData.map { $0.count + Self.overhead } ?? 0
        return values.userProperties.reduce(MemoryLayout<Values>.stride + texts + data) {
            $0 + MemoryLayout<UserProperty>.stride + $1.name.heldByteCount + $1.value.heldByteCount
        }
    }

    /// The approximate memory of an allocated block without its contents, in bytes.
    private static let overhead = 64

    /// Properties without any value, as in most messages.
    @usableFromInline package static var empty: MessageProperties { MessageProperties() }

    @usableFromInline package init() {}

    /// Creates properties with these values.
    package init(_ values: consuming Values) { box = values.isEmpty ? nil : Box(values) }

    /// Creates properties. All are absent by default.
    ///
    /// - Parameters:
    ///   - contentType: The MIME type of the payload.
    ///   - payloadFormat: The declared format of the payload.
    ///   - responseTopic: The topic for the response.
    ///   - correlationData: The data that the response must repeat.
    ///   - messageExpiry: The lifetime of the message.
    ///   - userProperties: The user properties of the message.
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

    /// Returns whether all values are equal.
    public static func == (one: MessageProperties, other: MessageProperties) -> Bool {
        one.box === other.box || one.values == other.values
    }

    /// Hashes all values.
    public func hash(into hasher: inout Hasher) { hasher.combine(values) }
}
