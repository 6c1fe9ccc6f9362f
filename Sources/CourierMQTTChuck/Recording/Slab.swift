import CourierCore

/// The packets of one read or write, as the logger keeps them. The array is not copied, unless a packet in it has a
/// secret or the data is too large.
struct Slab {
    /// The memory that a slab uses beside its bytes: its place in the ring and the header of its array.
    static let overhead = MemoryLayout<Slab?>.stride + 32

    let bytes: [UInt8]
    let firstRow: UInt64
    let rowCount: Int
    /// The wall-clock time of the packets, in nanoseconds since 1970.
    let time: Int64
    /// The time from which the age of the packets counts. For packets from a file, it is the time of the import.
    let keptSince: Int64
    let connection: MQTTChuckConnection
    /// The slot in which the recorder keeps the state of the connection.
    let slot: Int
    let direction: PacketBatch.Direction
    /// The size on the wire if the slab holds one packet that was cut because it is too large; otherwise 0.
    let wholeSize: Int

    var cost: Int { bytes.capacity + Self.overhead }

    var endRow: UInt64 { firstRow + UInt64(rowCount) }
}
