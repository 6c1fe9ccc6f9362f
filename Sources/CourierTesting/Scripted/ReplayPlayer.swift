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
        /// Nothing of what is still to come is like it, or all that is has come already.
        case unexpected
    }

    private let traffic: RecordedTraffic
    private var position = 0
    /// What came and is not needed yet; never more than the recording has.
    private var early: [RecordedRequest] = []
    /// How many packets of each kind are still to come.
    private var missing: [RecordedRequest.Kind: Int] = [:]
    /// Where the recording waits for the ping that the broker did not answer; `nil` where it answered all.
    private let lastPing: Int?
    /// The client's packet ids for those of the recording.
    private var ids: [PacketID: PacketID] = [:]
    /// When the step before was done.
    private var since: Instant

    init(_ traffic: RecordedTraffic, now: Instant) {
        self.traffic = traffic
        since = now
        lastPing = traffic.steps.lastIndex { step in
            if case .client(let request) = step { request.type == .pingReq } else { false }
        }
        for case .client(let request) in traffic.steps { missing[request.kind, default: 0] += 1 }
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
        if request.type == .pingReq, position < lastPing ?? .max { return .ping }
        // Which of several exchanges the second half of one belongs to is looked at when the first half has been.
        guard let count = missing[request.kind], count > 0 else {
            // Behind the ping that was not answered none is.
            return request.type == .pingReq ? .taken : .unexpected
        }
        missing[request.kind] = count - 1
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
