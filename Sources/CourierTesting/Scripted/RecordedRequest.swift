import MQTTCodec

/// A packet of the client in a recording. A replay compares it with the packets of the client under test.
struct RecordedRequest: Sendable, CustomStringConvertible {
    /// The properties that must be equal in a recorded packet and in the packet of the client under test, so that both
    /// packets match.
    struct Kind: Hashable, Sendable {
        fileprivate let type: PacketType
        fileprivate let subject: Subject
    }

    fileprivate enum Subject: Hashable, Sendable {
        case message(topic: String, qos: PacketQoS)
        case filters(Set<String>)
        /// The packet acknowledges a message of the broker. The broker chose the packet id, so the packet id is the
        /// same in each replay.
        case answer(PacketID)
        case none
    }

    let type: PacketType
    /// The packet id that the client chose; `nil` if the packet has no such id.
    let ownID: PacketID?
    private let subject: Subject

    /// Decodes a packet; `nil` if it cannot be decoded.
    ///
    /// Decoding tries `version` first, then 5.0, then 3.1.1. The version that succeeds is stored in `version`, for the
    /// packets that follow. A CONNECT contains its own version, which is stored in `version`.
    init?(_ bytes: [UInt8], _ version: inout ProtocolVersion) {
        for candidate in [version, .v5, .v311] {
            let decoder = PacketDecoder(version: candidate, sender: .client)
            let decoded = bytes.withBytes { bytes -> Packet? in
                guard case .frame(let frame)? = try? decoder.nextFrame(in: bytes) else { return nil }
                return try? decoder.packet(frame, in: bytes)
            }
            guard let packet = decoded else { continue }
            version = candidate
            if case .connect(let connect) = packet { version = connect.version }
            self.init(packet)
            return
        }
        return nil
    }

    init(_ packet: Packet) {
        type = packet.type
        switch packet {
        case .publish(let publish):
            ownID = publish.delivery.packetID
            subject = .message(topic: publish.topic, qos: publish.delivery.qos)
        case .subscribe(let subscribe):
            ownID = subscribe.packetID
            subject = .filters(Set(subscribe.subscriptions.map(\.filter)))
        case .unsubscribe(let unsubscribe):
            ownID = unsubscribe.packetID
            subject = .filters(Set(unsubscribe.filters))
        case .pubRel(let release):
            ownID = release.packetID
            subject = .none
        case .pubAck(let answer), .pubRec(let answer), .pubComp(let answer):
            ownID = nil
            subject = .answer(answer.packetID)
        case .connect, .connAck, .subAck, .unsubAck, .pingReq, .pingResp, .disconnect, .auth:
            ownID = nil
            subject = .none
        }
    }

    /// The packet's type and subject. Packet ids that the client chose are ignored.
    var kind: Kind { Kind(type: type, subject: subject) }

    /// Whether `other`, a packet of the client under test, matches this recorded packet. The keys of `ids` are packet
    /// ids of the recording. The values are the packet ids that the client under test uses instead.
    func isLike(_ other: RecordedRequest, _ ids: [PacketID: PacketID]) -> Bool {
        guard kind == other.kind else { return false }
        // A PUBREL matches only if its packet id belongs to the same exchange as the recorded PUBREL.
        return type != .pubRel || ownID.map { ids[$0] ?? $0 } == other.ownID
    }

    var description: String {
        switch subject {
        case .message(let topic, let qos): "\(type) (to \(topic), QoS \(qos.rawValue))"
        case .filters(let filters): "\(type) (\(filters.sorted().joined(separator: ", ")))"
        case .answer(let id): "\(type) \(id)"
        case .none: "\(type)"
        }
    }
}
