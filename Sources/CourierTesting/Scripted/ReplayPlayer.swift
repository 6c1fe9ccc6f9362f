import MQTTCodec

/// The part of ``ScriptPlayer`` that replays a recording, without I/O.
///
/// After each packet and at ``deadline``, call ``advance(now:)`` until it returns `.wait` or `.finished`.
struct ReplayPlayer: Sendable {
    typealias Instant = ContinuousClock.Instant

    enum Advance: Equatable, Sendable {
        case say([UInt8])
        /// Wait for a packet, or for ``ReplayPlayer/deadline``.
        case wait
        case finished
    }

    enum Reception: Equatable, Sendable {
        case taken
        /// A ping that no step of the recording waits for, so the caller answers it.
        case ping
        /// The packet does not occur in the rest of the recording.
        case unexpected
    }

    private let traffic: RecordedTraffic
    private var position = 0
    /// Packets that were received before their step. Their number is at most the number of packets in the recording.
    private var early: [RecordedRequest] = []
    /// The number of packets of each kind that the client has not sent yet.
    private var missing: [RecordedRequest.Kind: Int] = [:]
    /// If the recorded broker did not answer the last ping of its client, the index of the step that waits for this
    /// ping; otherwise `nil`.
    private let lastPing: Int?
    /// The packet ids that the client under test uses. The keys are the packet ids of the recording.
    private var ids: [PacketID: PacketID] = [:]
    /// The time at which the previous step was completed.
    private var since: Instant

    init(_ traffic: RecordedTraffic, now: Instant) {
        self.traffic = traffic
        since = now
        lastPing = traffic.steps.lastIndex { step in
            if case .client(let request) = step { request.type == .pingReq } else { false }
        }
        for case .client(let request) in traffic.steps { missing[request.kind, default: 0] += 1 }
    }

    /// The time at which the broker sends its next packet; `nil` while it waits for the client.
    var deadline: Instant? {
        guard position < traffic.steps.count, case .broker(let delay, _) = traffic.steps[position] else { return nil }
        return since + delay
    }

    /// The current step in words, for failure messages.
    var words: String {
        let place = "packet \(min(position + 1, traffic.steps.count)) of \(traffic.steps.count) of the recording"
        guard position < traffic.steps.count, case .client(let request) = traffic.steps[position] else { return place }
        return "\(place), \(request)"
    }

    /// Whether a remaining step waits for a packet of the client.
    var isWaitingForClient: Bool {
        traffic.steps[position...].contains { if case .client = $0 { true } else { false } }
    }

    /// Checks a packet that the client has sent. If a later step expects this packet, the packet is stored until that
    /// step begins.
    mutating func received(_ packet: Packet) -> Reception {
        let request = RecordedRequest(packet)
        if request.type == .pingReq, position < lastPing ?? .max { return .ping }
        // A PUBREL is accepted here even if it belongs to another exchange. A later step checks its exchange, because
        // the PUBLISH of the exchange must be matched first.
        guard let count = missing[request.kind], count > 0 else {
            // The recorded broker did not answer the last ping of its client. When the replay has reached this ping, no
            // further ping is answered.
            return request.type == .pingReq ? .taken : .unexpected
        }
        missing[request.kind] = count - 1
        early.append(request)
        return .taken
    }

    /// Returns the next action.
    mutating func advance(now: Instant) -> Advance {
        while position < traffic.steps.count {
            switch traffic.steps[position] {
            case .client(let wanted):
                guard let index = early.firstIndex(where: { wanted.isLike($0, ids) }) else { return .wait }
                let request = early.remove(at: index)
                if let recorded = wanted.ownID, let own = request.ownID { ids[recorded] = own }
                position += 1
                since = now
            case .broker(let delay, let bytes):
                guard now >= since + delay else { return .wait }
                position += 1
                since = now
                return .say(withOwnID(bytes))
            }
        }
        return .finished
    }

    /// Returns the broker's packet. In an acknowledgement, the packet id is replaced by the id that the client under
    /// test chose.
    private func withOwnID(_ bytes: [UInt8]) -> [UInt8] {
        switch bytes.first.flatMap({ PacketType(rawValue: $0 >> 4) }) {
        case .pubAck, .pubRec, .pubComp, .subAck, .unsubAck: break
        default: return bytes
        }
        guard let header = bytes.dropFirst().firstIndex(where: { $0 < 0x80 }), header + 2 < bytes.count,
            let recorded = PacketID(rawValue: UInt16(bytes[header + 1]) << 8 | UInt16(bytes[header + 2])),
            let own = ids[recorded]?.rawValue
        else { return bytes }
        var bytes = bytes
        bytes[header + 1] = UInt8(own >> 8)
        bytes[header + 2] = UInt8(own & 0xFF)
        return bytes
    }
}
