/// PUBLISH: a message, in either direction.
public struct Publish: Hashable, Sendable {
    /// The topic name, without wildcards. It may be empty only if a topic alias replaces it.
    public var topic: String
    /// The payload of the message.
    public var payload: [UInt8]
    /// The QoS. For QoS 1 and 2, the value also contains the packet id and the DUP flag.
    public var delivery: Delivery
    /// The retain flag. In a PUBLISH to a server, the flag requests that the server stores the message for later
    /// subscribers. In a PUBLISH from a server, the flag means that the message was stored.
    public var isRetained: Bool
    /// The properties; none before MQTT 5.
    public var properties: PacketProperties

    /// Creates a PUBLISH, by default with QoS 0, not retained and without properties.
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

/// A PUBLISH that was read without copying. Its topic, properties and payload are ranges of the received bytes.
public struct PublishView: Hashable, Sendable {
    /// The byte range of the topic name. The range may be empty only if a topic alias replaces the name.
    public let topic: Range<Int>
    /// The byte range of the properties, without their length. The range is empty if there are no properties.
    public let properties: Range<Int>
    /// The byte range of the payload.
    public let payload: Range<Int>
    /// The QoS. For QoS 1 and 2, the value also contains the packet id and the DUP flag.
    public let delivery: Delivery
    /// The retain flag. In a PUBLISH to a server, the flag requests that the server stores the message for later
    /// subscribers. In a PUBLISH from a server, the flag means that the message was stored.
    public let isRetained: Bool
    /// The topic alias; `nil` for none.
    public let topicAlias: UInt16?
    /// True if the properties contain a subscription identifier.
    package let hasSubscriptionIdentifier: Bool
}

/// The flags in the fixed header of PUBLISH.
private enum PublishFlags {
    static let retain: UInt8 = 0b0001
    static let qosShift: UInt8 = 1
    static let duplicate: UInt8 = 0b1000

    @inline(__always)
    static func qos(_ flags: UInt8) -> PacketQoS? { PacketQoS(rawValue: (flags >> qosShift) & 0b11) }
}

extension PacketDecoder {
    /// Returns the violation in the `flags` of a PUBLISH; `nil` if the flags are valid.
    @inline(__always)
    func violation(inPublishFlags flags: UInt8) -> Violation? {
        guard let qos = PublishFlags.qos(flags) else { return .invalidQoS }
        // A DUP flag with QoS 0 violates [MQTT-3.3.1-2].
        //
        // From a server, ignore the flag in all versions, as libmosquitto does. The message is complete, and closing
        // the connection would lose the following messages. From a client, refuse the packet, as mosquitto does. MQTT
        // 3.1 does not define the flag for QoS 0, so accept the flag in MQTT 3.1.
        let isDuplicate = flags & PublishFlags.duplicate != 0
        let isRefused = qos == .atMostOnce && isDuplicate && sender == .client && version > .v31
        return isRefused ? .duplicateFlagOnQoS0 : nil
    }
}

extension PublishView {
    /// Returns the number of bytes of the packet id in a PUBLISH with these flags.
    static func packetIDSize(flags: UInt8) -> Int { PublishFlags.qos(flags) == .atMostOnce ? 0 : 2 }

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

    /// Checks all properties. Returns the topic alias, and whether a subscription identifier is present.
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
    /// Creates a PUBLISH with copies of the ranges in `view`.
    init(_ view: PublishView, from reader: ByteReader, _ decoder: PacketDecoder) throws(DecodeError) {
        self.init(
            topic: reader.string(view.topic), payload: reader.array(view.payload), delivery: view.delivery,
            isRetained: view.isRetained,
            properties: try reader.properties(in: view.properties, at: .publish, decoder))
    }
}

extension PacketEncoder {
    /// Appends a PUBLISH to `buffer`. Copies the payload directly into the buffer, without creating a `Publish` value.
    ///
    /// - Throws: ``EncodeError`` if the packet breaks the specification, uses a feature that this version does not
    ///   have, or is larger than ``maximumPacketSize``. Then the buffer is unchanged.
    public func encodePublish(
        topic: String, payload: RawSpan, delivery: Delivery = .atMostOnce, isRetained: Bool = false,
        properties: PacketProperties = PacketProperties(), into buffer: inout PacketBuffer
    ) throws(EncodeError) {
        guard !properties.isEmpty else {
            return try topic.utf8.withBytes { topic throws(EncodeError) in
                try encodePublish(
                    topic: topic, payload: payload, delivery: delivery, isRetained: isRetained, into: &buffer)
            }
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

    /// Appends a PUBLISH whose topic and properties are already encoded as bytes. The engine stores waiting messages in
    /// this form.
    ///
    /// - Parameters:
    ///   - topic: The topic name in UTF-8, which is checked. The name may be empty only if a topic alias replaces it.
    ///   - payload: The payload of the message.
    ///   - delivery: The QoS, with the packet id and DUP flag of QoS 1 and 2.
    ///   - isRetained: True if the server should store the message as a retained message.
    ///   - encodedProperties: Bytes that ``PacketEncoder/encodePublishProperties(_:hasExpiry:into:)`` wrote; empty by
    ///     default.
    ///   - messageExpiry: The lifetime of the message in seconds, which is added as a property.
    ///   - topicAlias: A topic alias, which is added as a property. The alias must not be 0.
    ///   - buffer: The buffer that the packet is appended to.
    /// - Throws: ``EncodeError`` if the packet breaks the specification, uses a feature that this version does not
    ///   have, or is larger than ``maximumPacketSize``. Then the buffer is unchanged.
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
        // Here, the size is known, and no error can occur any more. So write all parts directly in their final order.
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

    /// Appends the encoded MQTT 5 properties of a PUBLISH, without their length, for
    /// ``encodePublish(topic:payload:delivery:isRetained:encodedProperties:messageExpiry:topicAlias:into:)``.
    ///
    /// A topic alias is refused, because the alias is assigned when the message is sent.
    ///
    /// - Parameters:
    ///   - properties: The properties to write.
    ///   - hasExpiry: True if a message expiry is added when the message is sent. Then `properties` must not contain a
    ///     message expiry.
    ///   - buffer: The buffer that the properties are appended to.
    /// - Throws: ``EncodeError`` if a property breaks the specification; the buffer is then unchanged.
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

    /// Appends one user property in the same form as ``encodePublishProperties(_:hasExpiry:into:)``, without creating a
    /// list.
    ///
    /// - Throws: ``EncodeError`` if the name or the value breaks the specification; the buffer is then unchanged.
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

    /// Appends a content type in the same form as ``encodePublishProperties(_:hasExpiry:into:)``, without creating a
    /// list.
    ///
    /// - Throws: ``EncodeError`` if the text breaks the specification; the buffer is then unchanged.
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

    /// Writes all bytes before the payload. Inserts the remaining length as the last step, because its value depends on
    /// the size of the written properties.
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

    /// The violation for an empty topic. In MQTT 5, an empty topic is legal if the packet has a topic alias (section
    /// 3.3.2.1).
    private var emptyTopic: Violation { version >= .v5 ? .emptyTopicWithoutAlias : .emptyTopic }

    @inline(__always)
    private static func firstByte(_ delivery: Delivery, _ isRetained: Bool) -> UInt8 {
        PacketType.publish.rawValue << 4
            | (delivery.isDuplicate ? PublishFlags.duplicate : 0)
            | delivery.qos.rawValue << PublishFlags.qosShift
            | (isRetained ? PublishFlags.retain : 0)
    }
}
