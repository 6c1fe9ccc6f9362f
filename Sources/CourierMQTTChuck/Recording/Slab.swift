import CourierCore

/// The packets of one read or write as they are kept: the array that came, without a copy, unless something in it is
/// secret or too large.
struct Slab {
    /// What a slab takes beside its bytes: its place in the ring and the head of the array.
    static let overhead = MemoryLayout<Slab?>.stride + 32

    let bytes: [UInt8]
    let firstRow: UInt64
    let rowCount: Int
    /// By the wall clock, in nanoseconds since 1970.
    let time: Int64
    /// When the packets came into the logger, which is later for those from a file; their age counts from here.
    let keptSince: Int64
    let connection: MQTTChuckConnection
    /// Where the recorder keeps what it knows of the connection.
    let slot: Int
    let direction: PacketBatch.Direction
    /// The size on the wire of the only packet, where it was cut because it is too large to be kept; 0 otherwise.
    let wholeSize: Int

    var cost: Int { bytes.capacity + Self.overhead }

    var endRow: UInt64 { firstRow + UInt64(rowCount) }
}
