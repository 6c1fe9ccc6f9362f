/// PUBLISH: a message.
public struct Publish: Hashable, Sendable {
    /// Where it is published; a topic name without wildcards, empty only where a topic alias stands for it.
    public var topic: String
    /// The message itself.
    public var payload: [UInt8]
    /// The quality of service, with the packet id and the DUP flag of QoS 1 and 2.
    public var delivery: Delivery
    /// To a server: keep it for later subscribers. From a server: it was kept.
    public var isRetained: Bool
    /// The properties; none before MQTT 5.
    public var properties: PacketProperties

    /// Makes a PUBLISH; QoS 0, not retained and without properties unless said otherwise.
    public init(
        topic: String, payload: [UInt8], delivery: Delivery = .atMostOnce, isRetained: Bool = false,
        properties: PacketProperties = []
    ) {
        self.topic = topic
        self.payload = payload
        self.delivery = delivery
        self.isRetained = isRetained
        self.properties = properties
    }
}

/// PUBLISH where it stands in the bytes of a connection.
public struct PublishView: Hashable, Sendable {
    /// Where the topic name stands; empty only where a topic alias stands for it.
    public let topic: Range<Int>
    /// Where the properties stand, without their length; empty when there are none.
    public let properties: Range<Int>
    /// Where the message itself stands.
    public let payload: Range<Int>
    /// The quality of service, with the packet id and the DUP flag of QoS 1 and 2.
    public let delivery: Delivery
    /// To a server: keep it for later subscribers. From a server: it was kept.
    public let isRetained: Bool
    /// The topic alias, if there is one.
    public let topicAlias: UInt16?
    /// Whether there is a subscription identifier among the properties.
    package let hasSubscriptionIdentifier: Bool
}

/// The flags in the fixed header of PUBLISH.
private enum PublishFlags {
    static let retain: UInt8 = 0b0001
    static let qosShift: UInt8 = 1
    static let duplicate: UInt8 = 0b1000

    static func qos(_ flags: UInt8) -> PacketQoS? { PacketQoS(rawValue: (flags >> qosShift) & 0b11) }
}

extension PacketDecoder {
    /// What is wrong with the `flags` of a PUBLISH, if anything.
    @inline(__always)
    func violation(inPublishFlags flags: UInt8) -> Violation? {
        guard let qos = PublishFlags.qos(flags) else { return .invalidQoS }
        // DUP at QoS 0 breaks [MQTT-3.3.1-2]. From a server the flag is ignored in all versions, as libmosquitto does:
        // the message is whole, and closing the connection would cost those behind it. A client's is refused, as
        // mosquitto does, but in MQTT 3.1, which does not say what the flag means there.
        let isDuplicate = flags & PublishFlags.duplicate != 0
        let isRefused = qos == .atMostOnce && isDuplicate && sender == .client && version > .v31
        return isRefused ? .duplicateFlagOnQoS0 : nil
    }
}

extension PublishView {
    @inline(__always)
    init(flags: UInt8, from reader: inout ByteReader, _ decoder: PacketDecoder) throws(DecodeError) {
        isRetained = flags & PublishFlags.retain != 0
        guard let qos = PublishFlags.qos(flags) else {
            throw reader.error(.invalidQoS, .fixedHeader, at: reader.packetStart)
        }
        let topicStart = reader.offset
        topic = try reader.binary(.topicName)
        switch qos {
        case .atMostOnce: delivery = .atMostOnce
        case .atLeastOnce:
            delivery = .atLeastOnce(try reader.packetID(), isDuplicate: flags & PublishFlags.duplicate != 0)
        case .exactlyOnce:
            delivery = .exactlyOnce(try reader.packetID(), isDuplicate: flags & PublishFlags.duplicate != 0)
        }
        properties = try reader.propertyRange(in: decoder.version)
        (topicAlias, hasSubscriptionIdentifier) =
            properties.isEmpty ? (nil, false) : try Self.checked(properties, of: reader, decoder)
        if topic.isEmpty {
            if topicAlias == nil {
                throw reader.error(
                    decoder.version >= .v5 ? .emptyTopicWithoutAlias : .emptyTopic, .topicName, at: topicStart)
            }
        } else if let violation = TextRules.violation(inTopicName: reader.view(topic)) {
            throw reader.error(violation, .topicName, at: topicStart)
        }
        payload = reader.offset..<reader.end
    }

    /// Checks all properties, and finds those that say what the topic is and whom the message is for.
    private static func checked(
        _ range: Range<Int>, of reader: ByteReader, _ decoder: PacketDecoder
    ) throws(DecodeError) -> (topicAlias: UInt16?, hasSubscriptionIdentifier: Bool) {
        var alias: UInt16?
        var properties = PropertyReader(ByteReader(range, of: reader), at: .publish, decoder)
        while let property = try properties.next() {
            if property.id == .topicAlias { alias = UInt16(truncatingIfNeeded: property.number) }
        }
        return (alias, properties.hasSeen(.subscriptionIdentifier))
    }
}

extension Publish {
    /// Copies what `view` found.
    init(_ view: PublishView, from reader: ByteReader, _ decoder: PacketDecoder) throws(DecodeError) {
        self.init(
            topic: reader.string(view.topic), payload: reader.array(view.payload), delivery: view.delivery,
            isRetained: view.isRetained,
            properties: try reader.properties(in: view.properties, at: .publish, decoder))
    }
}

extension PacketEncoder {
    /// Appends a PUBLISH to `buffer`, without a value for the packet and without a copy of the payload in between.
    ///
    /// - Throws: ``EncodeError`` when the packet breaks the specification, cannot be expressed in this version or is larger
    ///   than ``maximumPacketSize``; the buffer is then as it was.
    public func encodePublish(
        topic: String, payload: RawSpan, delivery: Delivery = .atMostOnce, isRetained: Bool = false,
        properties: PacketProperties = PacketProperties(), into buffer: inout PacketBuffer
    ) throws(EncodeError) {
        guard !properties.isEmpty else {
            return try encodePublish(
                topic: topic.utf8Span.span.bytes, payload: payload, delivery: delivery, isRetained: isRetained,
                into: &buffer)
        }
        let start = buffer.position
        do throws(EncodeError) {
            let fields = FieldWriter(packet: .publish, version: version, sender: sender)
            try writeHead(topic, delivery, isRetained, properties, payload.byteCount, fields, into: &buffer)
            payload.withUnsafeBytes { buffer.append($0) }
        } catch {
            buffer.truncate(to: start)
            throw error
        }
    }

    /// Appends a PUBLISH of parts that are bytes already, which is how messages wait for their turn.
    ///
    /// - Parameters:
    ///   - topic: The topic name in UTF-8, which is checked; empty only where an alias stands for it.
    ///   - payload: The message itself.
    ///   - delivery: The quality of service, with what it needs.
    ///   - isRetained: Whether the server keeps it.
    ///   - encodedProperties: What ``PacketEncoder/encodePublishProperties(_:hasExpiry:into:)`` wrote, none by default.
    ///   - messageExpiry: The seconds after which the message is worth nothing, as one more property.
    ///   - topicAlias: A topic alias, as one more property; not 0.
    ///   - buffer: Where it goes.
    /// - Throws: ``EncodeError`` when the packet breaks the specification, cannot be expressed in this version or is larger
    ///   than ``maximumPacketSize``; the buffer is then as it was.
    public func encodePublish(
        topic: RawSpan, payload: RawSpan, delivery: Delivery = .atMostOnce, isRetained: Bool = false,
        encodedProperties: RawSpan = RawSpan(), messageExpiry: UInt32? = nil, topicAlias: UInt16? = nil,
        into buffer: inout PacketBuffer
    ) throws(EncodeError) {
        let fields = FieldWriter(packet: .publish, version: version, sender: sender)
        let propertiesSize =
            encodedProperties.byteCount + (messageExpiry == nil ? 0 : 5) + (topicAlias == nil ? 0 : 3)
        var bodySize = 2 + topic.byteCount + (delivery.qos == .atMostOnce ? 0 : 2) + payload.byteCount
        if version >= .v5 {
            try fields.checkPropertyLength(propertiesSize)
            bodySize += VariableByteInteger.byteCount(propertiesSize) + propertiesSize
        } else if propertiesSize > 0 {
            throw fields.error(.notInThisVersion, .properties)
        }
        try checkSize(bodySize, of: .publish)
        if topic.isEmpty {
            guard topicAlias != nil else { throw fields.error(emptyTopic, .topicName) }
        } else {
            guard topic.byteCount <= UInt16.max else { throw fields.error(.fieldTooLong(topic.byteCount), .topicName) }
            if let violation = topic.withUnsafeBytes({ TextRules.violation(inTopicName: $0) }) {
                throw fields.error(violation, .topicName)
            }
        }
        // Nothing can go wrong from here on, and the size is known: everything goes straight to its place.
        buffer.reserve(bodySize + 5)
        buffer.append(Self.firstByte(delivery, isRetained))
        buffer.append(variableByteInteger: bodySize)
        buffer.append(UInt16(truncatingIfNeeded: topic.byteCount))
        topic.withUnsafeBytes { buffer.append($0) }
        if let id = delivery.packetID { buffer.append(id.rawValue) }
        if version >= .v5 {
            buffer.append(variableByteInteger: propertiesSize)
            if propertiesSize > 0 {
                encodedProperties.withUnsafeBytes { buffer.append($0) }
                if let messageExpiry {
                    buffer.append(PropertyID.messageExpiryInterval.rawValue)
                    buffer.append(messageExpiry)
                }
                if let topicAlias {
                    buffer.append(PropertyID.topicAlias.rawValue)
                    buffer.append(topicAlias)
                }
            }
        }
        payload.withUnsafeBytes { buffer.append($0) }
    }

    /// Appends the properties of a PUBLISH of MQTT 5 as bytes, without their length, for
    /// ``encodePublish(topic:payload:delivery:isRetained:encodedProperties:messageExpiry:topicAlias:into:)``.
    ///
    /// A topic alias is refused: which one a message gets is not known before it is sent.
    ///
    /// - Parameters:
    ///   - properties: What is to be written.
    ///   - hasExpiry: Whether the message gets an expiry of its own when it is sent, so that it may not have one here.
    ///   - buffer: Where it goes.
    /// - Throws: ``EncodeError`` when a property breaks the specification; the buffer is then as it was.
    public func encodePublishProperties(
        _ properties: PacketProperties, hasExpiry: Bool = false, into buffer: inout PacketBuffer
    ) throws(EncodeError) {
        let fields = FieldWriter(packet: .publish, version: .v5, sender: sender)
        for property in properties.list {
            let id = property.id
            guard id != .topicAlias, id != .messageExpiryInterval || !hasExpiry else {
                throw fields.error(.duplicateProperty(id), .property(id))
            }
        }
        let start = buffer.position
        do throws(EncodeError) {
            try fields.list(properties, at: .publish, into: &buffer)
        } catch {
            buffer.truncate(to: start)
            throw error
        }
    }

    /// Appends one user property of a PUBLISH as ``encodePublishProperties(_:hasExpiry:into:)`` does, without a list.
    ///
    /// - Throws: ``EncodeError`` when the name or the value breaks the specification; the buffer is then as it was.
    public func encodeUserProperty(
        _ name: String, _ value: String, into buffer: inout PacketBuffer
    ) throws(EncodeError) {
        let fields = FieldWriter(packet: .publish, version: .v5, sender: sender)
        let start = buffer.position
        do throws(EncodeError) {
            try fields.userProperty(name, value, into: &buffer)
        } catch {
            buffer.truncate(to: start)
            throw error
        }
    }

    /// Appends the content type of a PUBLISH as ``encodePublishProperties(_:hasExpiry:into:)`` does, without a list.
    ///
    /// - Throws: ``EncodeError`` when the text breaks the specification; the buffer is then as it was.
    public func encodeContentType(_ type: String, into buffer: inout PacketBuffer) throws(EncodeError) {
        let fields = FieldWriter(packet: .publish, version: .v5, sender: sender)
        let start = buffer.position
        do throws(EncodeError) {
            try fields.contentType(type, into: &buffer)
        } catch {
            buffer.truncate(to: start)
            throw error
        }
    }

    /// Writes everything before the payload: first the properties, whose size decides the remaining length, behind a copy
    /// of the header that is moved in front of them.
    private func writeHead(
        _ topic: String, _ delivery: Delivery, _ isRetained: Bool, _ properties: PacketProperties, _ payloadSize: Int,
        _ fields: FieldWriter, into buffer: inout PacketBuffer
    ) throws(EncodeError) {
        buffer.append(Self.firstByte(delivery, isRetained))
        let bodyStart = buffer.position
        if topic.isEmpty {
            guard properties.topicAlias != nil else { throw fields.error(emptyTopic, .topicName) }
            buffer.append(0 as UInt16)
        } else {
            try fields.topicName(topic, .topicName, into: &buffer)
        }
        if let id = delivery.packetID { buffer.append(id.rawValue) }
        try fields.properties(properties, at: .publish, into: &buffer)
        let bodySize = buffer.byteCount(since: bodyStart) + payloadSize
        try checkSize(bodySize, of: .publish)
        buffer.insert(variableByteInteger: bodySize, at: bodyStart)
    }

    /// What is wrong with an empty topic: in MQTT 5 an alias could stand for it (3.3.2.1).
    private var emptyTopic: Violation { version >= .v5 ? .emptyTopicWithoutAlias : .emptyTopic }

    @inline(__always)
    private static func firstByte(_ delivery: Delivery, _ isRetained: Bool) -> UInt8 {
        PacketType.publish.rawValue << 4
            | (delivery.isDuplicate ? PublishFlags.duplicate : 0)
            | delivery.qos.rawValue << PublishFlags.qosShift
            | (isRetained ? PublishFlags.retain : 0)
    }
}
