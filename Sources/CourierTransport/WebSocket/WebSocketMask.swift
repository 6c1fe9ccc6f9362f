/// The key that the payload of one frame is masked with: four bytes that repeat (RFC 6455, section 5.3).
struct WebSocketMask: Hashable, Sendable {
    /// The bytes of the key as they lie in memory, whatever the processor's order.
    let word: UInt32

    /// Takes the bytes from `bytes`, which has four.
    init(_ bytes: UnsafeRawPointer) { word = bytes.loadUnaligned(as: UInt32.self) }

    init(word: UInt32) { self.word = word }

    /// The key for what follows behind `count` masked bytes.
    func advanced(by count: Int) -> WebSocketMask {
        let shift = UInt32(truncatingIfNeeded: (count & 3) * 8)
        guard shift > 0 else { return self }
        let little = UInt32(littleEndian: word)
        return WebSocketMask(word: UInt32(littleEndian: little >> shift | little << (32 - shift)))
    }

    /// Masks, or unmasks, `count` bytes on their way from `source` to `target`, which may be the same place.
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
        // Eight is a multiple of four: the key begins anew here.
        withUnsafeBytes(of: word) { key in
            for index in 0..<(count &- offset) {
                let byte = (source + offset + index).load(as: UInt8.self)
                (target + offset + index).storeBytes(of: byte ^ key[index & 3], as: UInt8.self)
            }
        }
    }
}
