import CourierCore

/// The counts since the logger was created. Dropping or clearing rows does not reduce the counts.
struct Tally {
    /// The number of packet types per direction, including the invalid type 0.
    private static let width = 16

    private typealias Counts = FixedArray<UInt64, (Eight<UInt64>, Eight<UInt64>, Eight<UInt64>, Eight<UInt64>)>

    private var packets = Counts(repeating: 0)
    private var bytes = Counts(repeating: 0)
    /// The number of packets with a reason code that reports a failure.
    var refusals: UInt64 = 0
    /// The number of times that received or sent bytes were not a valid packet.
    var malformed: UInt64 = 0
    var connections: UInt64 = 0
    var reconnects: UInt64 = 0
    var accepted: UInt64 = 0
    var refused: UInt64 = 0
    var latencies = Latencies()

    /// Returns the index of the counts for a packet type and a direction.
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
