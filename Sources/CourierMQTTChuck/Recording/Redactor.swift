import CourierCore
import MQTTCodec

/// Overwrites secrets in packets before the packets are stored.
///
/// If a packet may contain a secret and cannot be decoded, everything after its fixed header is overwritten.
struct Redactor {
    static let mask = UInt8(ascii: "*")

    let names: SecretNames
    private let rules: [(filter: ContiguousArray<UInt8>, hidesTopic: Bool)]
    private let hidesUserName: Bool
    /// True if at least one rule hides topics.
    let hidesTopics: Bool

    init(_ redaction: MQTTChuckRedaction) {
        names = SecretNames(redaction.userPropertyNames)
        rules = redaction.topics.map { (ContiguousArray($0.filter.matchedString.utf8), $0.hidesTopic) }
        hidesUserName = redaction.hidesUserName
        hidesTopics = redaction.topics.contains { $0.hidesTopic }
    }

    /// True if at least one rule hides messages by their topic.
    var hasTopicRules: Bool { !rules.isEmpty }

    /// Returns whether the redaction rules hide messages on a topic, and whether they hide the topic itself.
    func verdict(_ topic: Span<UInt8>) -> (isHidden: Bool, hidesTopic: Bool) {
        var verdict = (isHidden: false, hidesTopic: false)
        if rules.isEmpty { return verdict }
        for rule in rules where TopicFilter.matches(rule.filter.span, topic) {
            verdict.isHidden = true
            verdict.hidesTopic = verdict.hidesTopic || rule.hidesTopic
        }
        return verdict
    }

    private func verdict(_ topic: String) -> (isHidden: Bool, hidesTopic: Bool) {
        topic.withUTF8Span { verdict($0) }
    }

    func masked(_ text: String) -> String { String(repeating: "*", count: text.utf8.count) }

    static func masked(_ bytes: [UInt8]) -> [UInt8] { [UInt8](repeating: Self.mask, count: bytes.count) }

    // MARK: PUBLISH

    /// Returns the redacted bytes of a PUBLISH, or `nil` if nothing must be hidden. `hiddenByAlias` is true if a rule
    /// hides messages on the topic of the alias.
    func publish(
        _ frame: PacketFrame, _ view: PublishView, from start: Int, _ bytes: Span<UInt8>, _ decoder: PacketDecoder,
        isHidden hiddenByAlias: Bool
    ) -> [UInt8]? {
        let verdict = verdict(bytes.extracting(view.topic))
        let isHidden = verdict.isHidden || (view.topic.isEmpty && hiddenByAlias)
        var secrets: [Range<Int>] = []
        if isHidden { secrets.append(view.payload) }
        if verdict.hidesTopic { secrets.append(view.topic) }
        if !view.properties.isEmpty, isHidden || hidesTopics || !names.isEmpty {
            try? decoder.forEachProperty(of: frame, in: view.properties, of: bytes.bytes) { property in
                switch property.id {
                case .userProperty:
                    if isHidden || names.contains(bytes, property.range) { secrets.append(property.secondRange) }
                case .correlationData: if isHidden { secrets.append(property.range) }
                case .responseTopic:
                    if hidesTopics, self.verdict(bytes.extracting(property.range)).hidesTopic {
                        secrets.append(property.range)
                    }
                default: break
                }
            }
        }
        guard secrets.contains(where: { !$0.isEmpty }) else { return nil }
        var copy = Array(bytes.extracting(start..<frame.end))
        for secret in secrets { for index in secret { copy[index - start] = Self.mask } }
        return copy
    }

    // MARK: Other packets

    /// Returns the redacted bytes of a packet other than PUBLISH, or `nil` if nothing must be hidden.
    func packet(_ header: PacketHeader, _ bytes: Span<UInt8>, _ decoder: PacketDecoder) -> [UInt8]? {
        guard case .frame(let frame)? = try? decoder.nextFrame(in: bytes.bytes, at: header.start),
            let packet = try? decoder.packet(frame, in: bytes.bytes)
        else { return overwritten(header, bytes) }
        let redacted = redacted(packet)
        if redacted == packet { return nil }
        var buffer = PacketBuffer()
        let encoder = PacketEncoder(version: decoder.version, sender: decoder.sender)
        guard (try? encoder.encode(redacted, into: &buffer)) != nil else { return overwritten(header, bytes) }
        return buffer.withBytes { $0.withUnsafeBytes { Array($0) } }
    }

    private func redacted(_ packet: Packet) -> Packet {
        switch packet {
        case .connect(var connect):
            connect.password = connect.password.map { SecretBytes(Self.masked($0.bytes)) }
            if hidesUserName { connect.username = connect.username.map(masked) }
            connect.properties = redacted(connect.properties)
            connect.will = connect.will.map(redacted)
            return .connect(connect)
        case .connAck(var connAck):
            connAck.properties = redacted(connAck.properties)
            return .connAck(connAck)
        case .publish(let publish): return .publish(publish)
        case .pubAck(let acknowledgement): return .pubAck(redacted(acknowledgement))
        case .pubRec(let acknowledgement): return .pubRec(redacted(acknowledgement))
        case .pubRel(let acknowledgement): return .pubRel(redacted(acknowledgement))
        case .pubComp(let acknowledgement): return .pubComp(redacted(acknowledgement))
        case .subscribe(var subscribe):
            subscribe.properties = redacted(subscribe.properties)
            for index in subscribe.subscriptions.indices {
                subscribe.subscriptions[index].filter = redacted(filter: subscribe.subscriptions[index].filter)
            }
            return .subscribe(subscribe)
        case .subAck(var subAck):
            subAck.properties = redacted(subAck.properties)
            return .subAck(subAck)
        case .unsubscribe(var unsubscribe):
            unsubscribe.properties = redacted(unsubscribe.properties)
            unsubscribe.filters = unsubscribe.filters.map { redacted(filter: $0) }
            return .unsubscribe(unsubscribe)
        case .unsubAck(var unsubAck):
            unsubAck.properties = redacted(unsubAck.properties)
            return .unsubAck(unsubAck)
        case .pingReq, .pingResp: return packet
        case .disconnect(var disconnect):
            disconnect.properties = redacted(disconnect.properties)
            return .disconnect(disconnect)
        case .auth(var auth):
            auth.properties = redacted(auth.properties)
            return .auth(auth)
        }
    }

    private func redacted(_ acknowledgement: Acknowledgement) -> Acknowledgement {
        var acknowledgement = acknowledgement
        acknowledgement.properties = redacted(acknowledgement.properties)
        return acknowledgement
    }

    private func redacted(_ will: Connect.Will) -> Connect.Will {
        var will = will
        let verdict = verdict(will.topic)
        if verdict.isHidden { will.payload = Self.masked(will.payload) }
        will.properties = redacted(will.properties, hidesAll: verdict.isHidden)
        if verdict.hidesTopic { will.topic = masked(will.topic) }
        return will
    }

    private func redacted(_ properties: PacketProperties, hidesAll: Bool = false) -> PacketProperties {
        PacketProperties(
            properties.list.map { property in
                switch property {
                case .authenticationData(let secret): .authenticationData(SecretBytes(Self.masked(secret.bytes)))
                case .userProperty(let name, let value):
                    hidesAll || names.contains(name) ? .userProperty(name: name, value: masked(value)) : property
                case .correlationData(let bytes): hidesAll ? .correlationData(Self.masked(bytes)) : property
                case .responseTopic(let topic):
                    verdict(topic).hidesTopic ? .responseTopic(masked(topic)) : property
                default: property
                }
            })
    }

    /// Returns a topic filter, masked if it matches a rule that hides topics. A wildcard of the rule also matches a
    /// wildcard of the filter.
    private func redacted(filter: String) -> String {
        // The share name of a shared subscription is not compared with the rules. If the filter is hidden, the share
        // name is masked too.
        let matched = (try? TopicFilter(filter))?.matchedString ?? filter
        return verdict(matched).hidesTopic ? masked(filter) : filter
    }

    /// Returns the packet with everything after its fixed header masked.
    func overwritten(_ header: PacketHeader, _ bytes: Span<UInt8>) -> [UInt8] {
        Array(bytes.extracting(header.start..<header.bodyStart))
            + [UInt8](repeating: Self.mask, count: header.bodySize)
    }
}

extension Array where Element == UInt8 {
    /// Creates an array with the bytes of a span.
    init(_ span: Span<UInt8>) { self = span.withUnsafeBufferPointer { Array($0) } }
}
