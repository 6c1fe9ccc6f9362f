import MQTTCodec

/// Plays a recording, as a pure machine: a part of ``ScriptPlayer``.
///
/// Ask ``advance(now:)`` until it has nothing to say, after each packet and at ``deadline``.
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
        /// A ping that the recording does not wait for.
        case ping
        /// Nothing of what is still to come is like it.
        case unexpected
    }

    private let traffic: RecordedTraffic
    private var position = 0
    /// What came and is not needed yet.
    private var early: [RecordedRequest] = []
    /// The client's packet ids for those of the recording.
    private var ids: [PacketID: PacketID] = [:]
    /// When the step before was done.
    private var since: Instant

    init(_ traffic: RecordedTraffic, now: Instant) {
        self.traffic = traffic
        since = now
    }

    /// When the broker speaks next; `nil` while it waits for the client.
    var deadline: Instant? {
        guard position < traffic.steps.count, case .broker(let delay, _) = traffic.steps[position] else { return nil }
        return since + delay
    }

    /// What it waits for, for a message.
    var words: String {
        let place = "packet \(min(position + 1, traffic.steps.count)) of \(traffic.steps.count) of the recording"
        guard position < traffic.steps.count, case .client(let request) = traffic.steps[position] else { return place }
        return "\(place), \(request)"
    }

    /// Whether the recording still waits for the client.
    var isWaitingForClient: Bool {
        traffic.steps[position...].contains { if case .client = $0 { true } else { false } }
    }

    /// Takes a packet of the client.
    mutating func received(_ packet: Packet) -> Reception {
        let request = RecordedRequest(packet)
        if request.type == .pingReq {
            guard position < traffic.steps.count, case .client(let wanted) = traffic.steps[position],
                wanted.type == .pingReq
            else { return .ping }
        }
        // The second half of an exchange is looked at when its first half has been.
        let isWanted = traffic.steps[position...].contains { step in
            if case .client(let wanted) = step {
                wanted.isLike(request, ids) || wanted.type == .pubRel && request.type == .pubRel
            } else {
                false
            }
        }
        guard isWanted else { return .unexpected }
        early.append(request)
        return .taken
    }

    /// The next thing to do.
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

    /// The same answer with the packet id that the client chose in this run.
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
