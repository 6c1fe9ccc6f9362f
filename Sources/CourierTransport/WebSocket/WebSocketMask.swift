/// The masking key of one frame: four bytes that repeat over the payload (RFC 6455, section 5.3).
struct WebSocketMask: Hashable, Sendable {
    /// The four bytes of the key in their order in memory, independent of the processor's byte order.
    let word: UInt32

    /// Reads the four bytes of a key from `bytes`.
    init(_ bytes: UnsafeRawPointer) { word = bytes.loadUnaligned(as: UInt32.self) }

    init(word: UInt32) { self.word = word }

    /// Returns the masking key for the bytes that follow `count` masked bytes.
    func advanced(by count: Int) -> WebSocketMask {
        let shift = UInt32(truncatingIfNeeded: (count & 3) * 8)
        guard shift > 0 else { return self }
        let little = UInt32(littleEndian: word)
        return WebSocketMask(word: UInt32(littleEndian: little >> shift | little << (32 - shift)))
    }

    /// Copies `count` bytes from `source` to `target`, and masks or unmasks them. Both pointers may be equal.
    func apply(from source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, count: Int) {
        let pair = UInt64(word) << 32 | UInt64(word)
        let wide = SIMD8<UInt64>(repeating: pair)
        let width = MemoryLayout<SIMD8<UInt64>>.size
        var offset = 0
        while offset &+ width <= count {
            let bytes = (source + offset).loadUnaligned(as: SIMD8<UInt64>.self)
            (target + offset).storeBytes(of: bytes ^ wide, as: SIMD8<UInt64>.self)
            offset &+= width
        }
        while offset &+ 8 <= count {
            let bytes = (source + offset).loadUnaligned(as: UInt64.self)
            (target + offset).storeBytes(of: bytes ^ pair, as: UInt64.self)
            offset &+= 8
        }
        // The loops above handle multiples of eight bytes, and the key has four bytes. So the remaining bytes start
        // with the first byte of the key.
        withUnsafeBytes(of: word) { key in
            for index in 0..<(count &- offset) {
                let byte = (source + offset + index).load(as: UInt8.self)
                (target + offset + index).storeBytes(of: byte ^ key[index & 3], as: UInt8.self)
            }
        }
    }
}
