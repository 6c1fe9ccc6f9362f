/// SUBSCRIBE: a client requests the messages that match topic filters.
public struct Subscribe: Hashable, Sendable {
    /// The packet id, which the SUBACK repeats.
    public var packetID: PacketID
    /// The filters with their options. At least one filter is required ([MQTT-3.8.3-2]).
    public var subscriptions: [Subscription]
    /// The properties; none before MQTT 5.
    public var properties: PacketProperties

    /// Creates a SUBSCRIBE, by default without properties.
    public init(packetID: PacketID, subscriptions: [Subscription], properties: PacketProperties = []) {
        self.packetID = packetID
        self.subscriptions = subscriptions
        self.properties = properties
    }
}

/// One filter of a SUBSCRIBE with its options.
public struct Subscription: Hashable, Sendable {
    /// Selects which retained messages the server sends when the client subscribes.
    public enum RetainHandling: UInt8, CaseIterable, Sendable {
        /// All matching retained messages, at every SUBSCRIBE.
        case send = 0
        /// All matching retained messages, only if the subscription did not exist before.
        case sendIfNew = 1
        /// No retained messages.
        case doNotSend = 2
    }

    /// The topic filter, which may contain wildcards. In MQTT 5, it may start with `$share/group/`.
    public var filter: String
    /// The highest QoS at which the client accepts messages.
    public var qos: PacketQoS
    /// MQTT 5: true if the server must not send this client its own messages.
    public var isNoLocal: Bool
    /// MQTT 5: true if messages keep the retain flag with which they were published.
    public var isRetainAsPublished: Bool
    /// MQTT 5: selects which retained messages the server sends when the client subscribes.
    public var retainHandling: RetainHandling

    /// Creates a subscription. The defaults of the MQTT 5 options match the behavior of earlier versions.
    public init(
        _ filter: String, qos: PacketQoS, isNoLocal: Bool = false, isRetainAsPublished: Bool = false,
        retainHandling: RetainHandling = .send
    ) {
        self.filter = filter
        self.qos = qos
        self.isNoLocal = isNoLocal
        self.isRetainAsPublished = isRetainAsPublished
        self.retainHandling = retainHandling
    }
}

/// The bits of the subscription options byte (MQTT 5.0, section 3.8.3.1).
private enum OptionBits {
    static let qosMask: UInt8 = 0b0000_0011
    static let noLocal: UInt8 = 0b0000_0100
    static let retainAsPublished: UInt8 = 0b0000_1000
    static let retainHandlingShift: UInt8 = 4
    static let reserved: UInt8 = 0b1100_0000
}

extension Subscribe {
    init(from reader: inout ByteReader, _ decoder: PacketDecoder) throws(DecodeError) {
        packetID = try reader.packetID()
        properties = try reader.properties(at: .subscribe, decoder)
        subscriptions = []
        repeat {
            guard reader.remaining > 0 else { throw reader.error(.noEntries, .topicFilter) }
            try reader.checkFilterCount(subscriptions.count, decoder)
            subscriptions.append(try Subscription(from: &reader, decoder))
        } while reader.remaining > 0
    }
}

extension ByteReader {
    /// Throws an error if a packet that already has `count` filters may have no further filter.
    func checkFilterCount(_ count: Int, _ decoder: PacketDecoder) throws(DecodeError) {
        let limit = decoder.limits.maximumFilters
        guard count < limit else { throw error(.tooManyFilters(limit: limit), .topicFilter) }
    }
}

extension Subscription {
    init(from reader: inout ByteReader, _ decoder: PacketDecoder) throws(DecodeError) {
        let range = try reader.topicFilter(knowsSharing: decoder.version >= .v5)
        let optionsStart = reader.offset
        let options = try reader.byte(.subscriptionOptions)
        func refusal(_ violation: Violation) -> DecodeError {
            reader.error(violation, .subscriptionOptions, at: optionsStart)
        }
        let reserved = decoder.version >= .v5 ? OptionBits.reserved : ~OptionBits.qosMask
        if options & reserved != 0 { throw refusal(.reservedSubscriptionOptions) }
        guard let qos = PacketQoS(rawValue: options & OptionBits.qosMask) else { throw refusal(.invalidRequestedQoS) }
        guard let retainHandling = RetainHandling(rawValue: options >> OptionBits.retainHandlingShift) else {
            throw refusal(.invalidRetainHandling)
        }
        let isNoLocal = options & OptionBits.noLocal != 0
        if isNoLocal, TextRules.hasSharePrefix(reader.view(range)) { throw refusal(.noLocalOnSharedSubscription) }
        self.init(
            reader.string(range), qos: qos, isNoLocal: isNoLocal,
            isRetainAsPublished: options & OptionBits.retainAsPublished != 0, retainHandling: retainHandling)
    }

    /// The options, encoded as the byte that follows the filter.
    fileprivate var options: UInt8 {
        qos.rawValue | (isNoLocal ? OptionBits.noLocal : 0)
            | (isRetainAsPublished ? OptionBits.retainAsPublished : 0)
            | retainHandling.rawValue << OptionBits.retainHandlingShift
    }
}

extension Subscribe: PacketBody {
    func write(to buffer: inout PacketBuffer, _ fields: FieldWriter) throws(EncodeError) {
        guard !subscriptions.isEmpty else { throw fields.error(.noEntries, .topicFilter) }
        buffer.append(packetID.rawValue)
        try fields.properties(properties, at: .subscribe, into: &buffer)
        for subscription in subscriptions {
            let options = subscription.options
            if options & ~OptionBits.qosMask != 0 {
                if fields.version < .v5 { throw fields.error(.notInThisVersion, .subscriptionOptions) }
                if subscription.isNoLocal, subscription.filter.utf8.starts(with: "$share/".utf8) {
                    throw fields.error(.noLocalOnSharedSubscription, .subscriptionOptions)
                }
            }
            try fields.topicFilter(subscription.filter, into: &buffer)
            buffer.append(options)
        }
    }
}
