/// Finds the end of each level of a topic, and computes the hash of the level. Processes eight bytes at a time.
///
/// Because of the random seed, a sender cannot choose topics that collide in the table of a ``TopicTree``.
struct LevelHash: Sendable {
    private static let multiplier: UInt64 = 0x9E37_79B9_7F4A_7C15
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let separators = ones &* UInt64(UInt8(ascii: "/"))

    let seed: UInt64

    /// Returns the hash of the level that begins at `start`, and the offset of the level's end. The level ends at a
    /// separator or at the end of the text.
    @inline(__always)
    func scan(_ text: UnsafeRawBufferPointer, from start: Int) -> (hash: UInt64, end: Int) {
        var hash = seed ^ Self.multiplier
        var offset = start
        while offset < text.count {
            let word = text.word(at: offset)
            // The lowest set bit of `found` marks the first byte that is a separator.
            let difference = word ^ Self.separators
            let found = (difference &- Self.ones) & ~difference & (Self.ones &* 0x80)
            if found != 0 {
                let length = found.trailingZeroBitCount / 8
                if length > 0 { hash = mixed(hash, word & (.max >> UInt64(64 - 8 * length))) }
                return (hash, offset + length)
            }
            hash = mixed(hash, word)
            offset += 8
        }
        return (hash, text.count)
    }

    /// Returns the key in the hash table for a level below the node `parent`. `hash` is the hash of the level's text.
    @inline(__always)
    func key(_ hash: UInt64, under parent: UInt32) -> UInt32 {
        UInt32(truncatingIfNeeded: mixed(hash, UInt64(parent) &* Self.multiplier) >> 16)
    }

    @inline(__always)
    private func mixed(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        let product = (hash ^ word) &* Self.multiplier
        return product ^ (product >> 32)
    }
}

extension UnsafeRawBufferPointer {
    /// Returns the eight bytes from `offset` on as a number. The first byte is the least significant one. Bytes after
    /// the end are zero.
    @inline(__always)
    func word(at offset: Int) -> UInt64 {
        if offset &+ 8 <= count {
            return UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        var word: UInt64 = 0
        var index = count
        while index > offset {
            index &-= 1
            word = word << 8 | UInt64(self[index])
        }
        return word
    }
}
