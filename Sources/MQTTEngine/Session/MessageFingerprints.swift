import MQTTCodec

/// The fingerprints of received QoS 2 messages whose PUBREL may not have arrived. A fingerprint is a hash value of
/// topic and payload. It distinguishes a repetition from a new message with the same packet id, which a server that
/// lost the session may send.
///
/// Memory is allocated for the first message. The memory grows with the number of messages that wait for PUBREL at the
/// same time, at most 65,535.
struct MessageFingerprints {
    private static let placeCount = 1_024
    private static let leastRoom = 16

    /// Each element contains a packet id and the fingerprint of its message. An empty element is 0.
    private var places: [UInt64] = []
    /// The fingerprints of ids that wait for PUBREL and whose element in `places` now belongs to another id. For
    /// example, a server that lost the session starts at id 1 again, while ids of the lost session still wait for
    /// PUBREL.
    private var displaced: [PacketID: UInt32] = [:]

    /// Stores the fingerprint of the message with this id. The fingerprints of all ids in `held` remain available.
    mutating func note(_ fingerprint: UInt32, of id: PacketID, held: borrowing IncomingPacketIDs) {
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

    private mutating func displace(_ id: PacketID, _ fingerprint: UInt32, held: borrowing IncomingPacketIDs) {
        if displaced.count == displaced.capacity { forgetFreeIDs(held: held) }
        displaced[id] = fingerprint
    }

    /// Removes the fingerprints of ids that no longer wait for PUBREL. Reserves twice the remaining size, so that this
    /// removal runs rarely.
    private mutating func forgetFreeIDs(held: borrowing IncomingPacketIDs) {
        var left: [PacketID: UInt32] = [:]
        for (id, fingerprint) in displaced where held.contains(id) { left[id] = fingerprint }
        left.reserveCapacity(max(Self.leastRoom, 2 * left.count))
        displaced = left
    }

    /// Returns true if a different fingerprint is stored for this id.
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
    /// The number of bytes that are hashed at the start and at the end of a payload. A payload of at most twice this
    /// length is hashed completely.
    private static let fingerprintedEnd = 128

    /// Computes the fingerprint of a message from its topic and payload.
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

    /// Mixes one word into the hash. Each step is reversible, so that no step loses a difference between two words. The
    /// multiplication carries differences only to higher bits. The shift carries these differences back to lower bits,
    /// so that the next word does not cancel them.
    @inline(__always)
    private static func mix(_ word: UInt64, into hash: inout UInt64) {
        hash = (hash ^ word) &* 0xD6E8_FEB8_6659_FD93
        hash ^= hash >> 32
    }
}
