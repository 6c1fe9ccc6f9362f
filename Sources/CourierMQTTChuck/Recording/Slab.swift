import CourierCore

/// The packets of one read or write, as the logger stores them. The array of the read or write is not copied, unless it
/// contains a secret or is too large.
struct Slab {
    /// The memory in bytes that a slab needs in addition to its packets: its element in the ring and the header of its
    /// array.
    static let overhead = MemoryLayout<Slab?>.stride + 32

    let bytes: [UInt8]
    let firstRow: UInt64
    let rowCount: Int
    /// The wall-clock time of the packets, in nanoseconds since 1970.
    let time: Int64
    /// The time from which the age of the packets is counted for the age limit, in nanoseconds since 1970. For packets
    /// from a file, it is the time of the import.
    let keptSince: Int64
    let connection: MQTTChuckConnection
    /// The index under which the recorder stores the state of the connection.
    let slot: Int
    let direction: PacketBatch.Direction
    /// The original size in bytes if the slab contains one packet that was cut; otherwise 0.
    let wholeSize: Int

    var cost: Int { bytes.capacity + Self.overhead }

    var endRow: UInt64 { firstRow + UInt64(rowCount) }
}
