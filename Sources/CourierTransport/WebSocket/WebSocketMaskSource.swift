/// Makes masking keys that the author of the payload cannot predict (RFC 6455, section 10.3).
///
/// The ChaCha20 block function (RFC 8439, section 2.3) makes 16 keys per block from a random seed. So a key needs no
/// call of the operating system.
struct WebSocketMaskSource: Sendable {
    private let seed: (SIMD4<UInt32>, SIMD4<UInt32>)
    private var counter: UInt64 = 0
    private var block = SIMD16<UInt32>()
    private var used = 16

    /// Takes a seed of 256 bits from `generator`. Connections use the system's generator. With a seeded generator, a
    /// test gets the same masking keys each time.
    init(using generator: inout some RandomNumberGenerator) {
        func row() -> SIMD4<UInt32> {
            let (first, second) = (generator.next(), generator.next())
            return SIMD4(
                UInt32(truncatingIfNeeded: first), UInt32(truncatingIfNeeded: first >> 32),
                UInt32(truncatingIfNeeded: second), UInt32(truncatingIfNeeded: second >> 32))
        }
        seed = (row(), row())
    }

    /// Returns the next masking key.
    mutating func next() -> WebSocketMask {
        if used == 16 {
            let position = SIMD4(UInt32(truncatingIfNeeded: counter), UInt32(truncatingIfNeeded: counter >> 32), 0, 0)
            block = Self.block(seed, position)
            counter &+= 1
            used = 0
        }
        defer { used &+= 1 }
        return WebSocketMask(word: block[used])
    }

    /// Returns one ChaCha20 block (RFC 8439). `seed` is the key; `position` is the counter and the nonce.
    static func block(_ seed: (SIMD4<UInt32>, SIMD4<UInt32>), _ position: SIMD4<UInt32>) -> SIMD16<UInt32> {
        let constants = SIMD4<UInt32>(0x6170_7865, 0x3320_646E, 0x7962_2D32, 0x6B20_6574)
        var (a, b, c, d) = (constants, seed.0, seed.1, position)
        for _ in 0..<10 {
            quarterRounds(&a, &b, &c, &d)
            (b, c, d) = (b.rotatedLanes(1), c.rotatedLanes(2), d.rotatedLanes(3))
            quarterRounds(&a, &b, &c, &d)
            (b, c, d) = (b.rotatedLanes(3), c.rotatedLanes(2), d.rotatedLanes(1))
        }
        return SIMD16(
            lowHalf: SIMD8(lowHalf: a &+ constants, highHalf: b &+ seed.0),
            highHalf: SIMD8(lowHalf: c &+ seed.1, highHalf: d &+ position))
    }

    private static func quarterRounds(
        _ a: inout SIMD4<UInt32>, _ b: inout SIMD4<UInt32>, _ c: inout SIMD4<UInt32>, _ d: inout SIMD4<UInt32>
    ) {
        a &+= b
        d = (d ^ a).rotatedBits(16)
        c &+= d
        b = (b ^ c).rotatedBits(12)
        a &+= b
        d = (d ^ a).rotatedBits(8)
        c &+= d
        b = (b ^ c).rotatedBits(7)
    }
}

extension SIMD4<UInt32> {
    fileprivate func rotatedBits(_ count: UInt32) -> Self { (self &<< count) | (self &>> (32 - count)) }

    /// Returns the vector after its first `count` lanes were moved to the end.
    fileprivate func rotatedLanes(_ count: Int) -> Self {
        SIMD4(self[count & 3], self[(count + 1) & 3], self[(count + 2) & 3], self[(count + 3) & 3])
    }
}
