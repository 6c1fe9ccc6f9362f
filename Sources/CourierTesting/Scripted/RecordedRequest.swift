import MQTTCodec

/// A client's packet in a recording, and the rule that finds the same packet in another run.
struct RecordedRequest: Sendable, CustomStringConvertible {
    /// The properties that a packet shares with its counterpart in another run.
    struct Kind: Hashable, Sendable {
        fileprivate let type: PacketType
        fileprivate let subject: Subject
    }

    fileprivate enum Subject: Hashable, Sendable {
        case message(topic: String, qos: PacketQoS)
        case filters(Set<String>)
        /// An answer to the broker, whose packet ids are the same in each run.
        case answer(PacketID)
        case none
    }

    let type: PacketType
    /// The packet id that the client chose.
    let ownID: PacketID?
    private let subject: Subject

    /// Decodes a packet; `nil` if it cannot be decoded.
    ///
    /// `version` is the version of the packets before it, and on return of the packets after it. A CONNECT sets it. If
    /// no CONNECT was recorded, the first packet that can be decoded in one version only sets it.
    init?(_ bytes: [UInt8], _ version: inout ProtocolVersion) {
        for candidate in [version, .v5, .v311] {
            let decoder = PacketDecoder(version: candidate, sender: .client)
            guard case .frame(let frame)? = try? decoder.nextFrame(in: bytes.span.bytes),
                let packet = try? decoder.packet(frame, in: bytes.span.bytes)
            else { continue }
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

    /// Its type and subject. Packet ids that the client chose are ignored.
    var kind: Kind { Kind(type: type, subject: subject) }

    /// Whether another client's packet is the counterpart of this one. `ids` maps packet ids of this client to those of
    /// the other client, as far as they are known.
    func isLike(_ other: RecordedRequest, _ ids: [PacketID: PacketID]) -> Bool {
        guard kind == other.kind else { return false }
        // A PUBREL must belong to the exchange of its PUBLISH.
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
