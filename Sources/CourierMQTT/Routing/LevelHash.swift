/// Hashes the levels of topics for a ``TopicTree``.
///
/// The seed keeps who chooses topics from choosing ones that collide.
struct LevelHash: Sendable {
    private static let prime: UInt64 = 0x0000_0100_0000_01B3
    private static let mixer: UInt64 = 0x9E37_79B9_7F4A_7C15

    let seed: UInt64

    /// The hash of a level that has no bytes yet.
    var empty: UInt64 { seed ^ Self.mixer }

    /// The hash of a level with one more byte.
    @inline(__always)
    func adding(_ byte: UInt8, to hash: UInt64) -> UInt64 { (hash ^ UInt64(byte)) &* Self.prime }

    /// The hash of a level under the node `parent`, well mixed in all its bits.
    @inline(__always)
    func key(_ hash: UInt64, under parent: UInt32) -> UInt32 {
        let product = (hash ^ (UInt64(parent) &* Self.mixer)).multipliedFullWidth(by: Self.mixer ^ (seed | 1))
        let folded = product.high ^ product.low
        return UInt32(truncatingIfNeeded: folded ^ (folded >> 32))
    }
}
