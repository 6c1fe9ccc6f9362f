import CourierCore
import MQTTCodec

/// Reads the facts of the packets in one direction, such as their topics. Rules compare these facts. A packet that
/// cannot be decoded has no topics.
struct PacketFactsReader: Sendable {
    /// The limit for the topics of all topic aliases of one direction, in bytes. Further aliases are not stored.
    static let aliasByteLimit = 1 << 20

    private var decoder: PacketDecoder
    private var aliases: [UInt16: String] = [:]
    private var aliasByteCount = 0

    init(sender: Endpoint) {
        // Each CONNECT contains its MQTT version. Before CONNECT, the rules of 3.1.1 apply.
        decoder = PacketDecoder(
            version: .v311, sender: sender, limits: .init(maximumPacketSize: FaultProxy.heldPacketSize))
    }

    var version: ProtocolVersion {
        get { decoder.version }
        set { decoder.version = newValue }
    }

    /// Returns the facts of a packet. `bytes` holds the whole packet or, if it is too large, its beginning.
    mutating func facts(_ type: PacketType?, _ bytes: [UInt8], isWhole: Bool) -> PacketFacts {
        var facts = PacketFacts(sender: decoder.sender, type: type)
        switch type {
        case .publish:
            let topic = isWhole ? publishTopic(bytes) : Self.firstText(of: bytes)
            if let topic { facts.topics = [topic] }
        case .subscribe where isWhole:
            if case .subscribe(let subscribe) = decoder.packet(bytes) {
                facts.topics = subscribe.subscriptions.map { Self.matched($0.filter) }
            }
        case .unsubscribe where isWhole:
            if case .unsubscribe(let unsubscribe) = decoder.packet(bytes) {
                facts.topics = unsubscribe.filters.map(Self.matched)
            }
        default: break
        }
        return facts
    }

    private mutating func publishTopic(_ bytes: [UInt8]) -> String? {
        let found = bytes.withBytes { bytes -> PublishView? in
            guard case .frame(let frame)? = try? decoder.nextFrame(in: bytes) else { return nil }
            return try? decoder.publish(frame, in: bytes)
        }
        guard let view = found else { return nil }
        let topic = String(decoding: bytes[view.topic], as: UTF8.self)
        guard let alias = view.topicAlias else { return topic }
        if topic.isEmpty { return aliases[alias] }
        let growth = topic.utf8.count - (aliases[alias]?.utf8.count ?? 0)
        if aliasByteCount + growth <= Self.aliasByteLimit {
            aliases[alias] = topic
            aliasByteCount += growth
        } else {
            aliasByteCount -= aliases.removeValue(forKey: alias)?.utf8.count ?? 0
        }
        return topic
    }

    /// Reads the MQTT version from the beginning of a CONNECT, also if the rest of the packet cannot be decoded. `nil`
    /// for a version that does not exist.
    ///
    /// The version decides where a packet has secrets. So it must be known even for a CONNECT that breaks a limit.
    static func version(ofConnect bytes: [UInt8]) -> ProtocolVersion? {
        guard let lastOfLength = bytes.dropFirst().firstIndex(where: { $0 < 0x80 }), lastOfLength + 2 < bytes.count
        else { return nil }
        let level = lastOfLength + 3 + Int(bytes[lastOfLength + 1]) << 8 + Int(bytes[lastOfLength + 2])
        guard level < bytes.count else { return nil }
        return switch bytes[level] & 0x7F {  // Bridges set the highest bit.
        case 3: .v31
        case 4: .v311
        case 5: .v5
        default: nil
        }
    }

    /// Reads the text at the beginning of a packet's body, which is the topic of a PUBLISH.
    private static func firstText(of bytes: [UInt8]) -> String? {
        guard let lastOfLength = bytes.dropFirst().firstIndex(where: { $0 < 0x80 }), lastOfLength + 2 < bytes.count
        else { return nil }
        let start = lastOfLength + 3
        let end = start + Int(bytes[start - 2]) << 8 + Int(bytes[start - 1])
        return end <= bytes.count ? String(validating: bytes[start..<end], as: UTF8.self) : nil
    }

    private static func matched(_ filter: String) -> String { (try? TopicFilter(filter))?.matchedString ?? filter }
}

extension PacketDecoder {
    /// Decodes a whole packet; `nil` if it breaks the specification or a limit.
    func packet(_ bytes: [UInt8]) -> Packet? {
        bytes.withBytes { bytes in
            guard case .frame(let frame)? = try? nextFrame(in: bytes), frame.end == bytes.byteCount else { return nil }
            return try? packet(frame, in: bytes)
        }
    }
}
