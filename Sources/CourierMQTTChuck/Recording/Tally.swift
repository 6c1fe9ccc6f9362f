import CourierCore

/// What has been counted since the logger was made; nothing that is dropped or cleared is taken back.
struct Tally {
    /// The number of types, 0 included, for each direction.
    private static let width = 16

    private var packets = InlineArray<32, UInt64>(repeating: 0)
    private var bytes = InlineArray<32, UInt64>(repeating: 0)
    /// Packets with a reason code that says that something failed.
    var refusals: UInt64 = 0
    /// Packets, or what stood in their place, that could not be told apart.
    var malformed: UInt64 = 0
    var connections: UInt64 = 0
    var reconnects: UInt64 = 0
    var accepted: UInt64 = 0
    var refused: UInt64 = 0
    var latencies = Latencies()

    /// Where the counts of this type stand.
    @inline(__always)
    private static func place(_ typeBits: UInt8, _ direction: PacketBatch.Direction) -> Int {
        Int(typeBits & 0x0F) &+ (direction == .incoming ? width : 0)
    }

    @inline(__always)
    mutating func count(_ typeBits: UInt8, _ direction: PacketBatch.Direction, packets count: Int = 1, size: Int) {
        let place = Self.place(typeBits, direction)
        packets[place] &+= UInt64(truncatingIfNeeded: count)
        bytes[place] &+= UInt64(truncatingIfNeeded: size)
    }

    func packets(_ typeBits: UInt8, _ direction: PacketBatch.Direction) -> UInt64 {
        packets[Self.place(typeBits, direction)]
    }

    func bytes(_ typeBits: UInt8, _ direction: PacketBatch.Direction) -> UInt64 {
        bytes[Self.place(typeBits, direction)]
    }
}
