import MQTTCodec

/// What QoS 2 messages looked like whose ids may be held still: by this a repetition is told from another message, which a
/// server sends under the same id when it has lost the session.
///
/// The memory is taken with the first message. It grows with how many ids are held together: 65,535 at most.
struct MessageFingerprints {
    private static let placeCount = 1_024
    private static let leastRoom = 16

    /// A packet id and the fingerprint of its message, or 0.
    private var places: [UInt64] = []
    /// The fingerprints of ids that are held still, and whose place another id has taken: a server that has lost the session
    /// counts from 1 again, and comes by there before it uses them.
    private var displaced: [PacketID: UInt32] = [:]

    /// Notes what the message with this id looks like; the ids in `held` may be asked about.
    mutating func note(_ fingerprint: UInt32, of id: PacketID, held: borrowing PacketIDSet) {
        if places.isEmpty { places = [UInt64](repeating: 0, count: Self.placeCount) }
        let place = Self.place(of: id)
        let former = places[place]
        if let formerID = PacketID(rawValue: UInt16(truncatingIfNeeded: former >> 32)), formerID != id,
            held.contains(formerID)
        {
            displace(formerID, UInt32(truncatingIfNeeded: former), held: held)
        }
        places[place] = Self.entry(id, fingerprint)
        if !displaced.isEmpty { displaced[id] = nil }
    }

    private mutating func displace(_ id: PacketID, _ fingerprint: UInt32, held: borrowing PacketIDSet) {
        if displaced.count == displaced.capacity { forgetFreeIDs(held: held) }
        displaced[id] = fingerprint
    }

    /// Forgets ids that are free, and makes room for as many as are left: so long it is until the next time.
    private mutating func forgetFreeIDs(held: borrowing PacketIDSet) {
        var left: [PacketID: UInt32] = [:]
        for (id, fingerprint) in displaced where held.contains(id) { left[id] = fingerprint }
        left.reserveCapacity(max(Self.leastRoom, 2 * left.count))
        displaced = left
    }

    /// Whether the message with this id is known to have looked otherwise.
    func isOther(_ fingerprint: UInt32, than id: PacketID) -> Bool {
        guard !places.isEmpty else { return false }
        let known = places[Self.place(of: id)]
        if known >> 32 == UInt64(id.rawValue) { return known != Self.entry(id, fingerprint) }
        return displaced[id].map { $0 != fingerprint } ?? false
    }

    private static func place(of id: PacketID) -> Int { Int(id.rawValue) & (placeCount - 1) }

    private static func entry(_ id: PacketID, _ fingerprint: UInt32) -> UInt64 {
        UInt64(id.rawValue) << 32 | UInt64(fingerprint)
    }
}

extension UInt32 {
    /// Of more bytes than this, as many of both ends count.
    private static let fingerprintedEnd = 128

    /// The fingerprint of a message.
    init(fingerprintOf topic: RawSpan, _ payload: RawSpan) {
        var hash: UInt64 = 0x9E37_79B9_7F4A_7C15
        Self.mix(topic, into: &hash)
        if payload.byteCount <= 2 * Self.fingerprintedEnd {
            Self.mix(payload, into: &hash)
        } else {
            Self.mix(payload.extracting(first: Self.fingerprintedEnd), into: &hash)
            Self.mix(payload.extracting(last: Self.fingerprintedEnd), into: &hash)
            Self.mix(UInt64(payload.byteCount), into: &hash)
        }
        self.init(truncatingIfNeeded: hash >> 32)
    }

    @inline(__always)
    private static func mix(_ bytes: RawSpan, into hash: inout UInt64) {
        var offset = 0
        while offset + 8 <= bytes.byteCount {
            mix(bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self), into: &hash)
            offset += 8
        }
        var rest = UInt64(bytes.byteCount - offset)
        while offset < bytes.byteCount {
            rest = rest << 8 | UInt64(bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
            offset += 1
        }
        mix(rest, into: &hash)
    }

    /// Each step can be reversed, so what differs in one word never vanishes. The product carries differences upwards only:
    /// the shift brings them back to where the next word does not undo them.
    @inline(__always)
    private static func mix(_ word: UInt64, into hash: inout UInt64) {
        hash = (hash ^ word) &* 0xD6E8_FEB8_6659_FD93
        hash ^= hash >> 32
    }
}
