import CourierCore

/// A packet that comes from a file and not from a connection.
struct RestoredPacket {
    let number: UInt64
    let bytes: [UInt8]
    let wholeSize: Int
    let direction: PacketBatch.Direction
    let time: Int64
    /// When it is added.
    let now: Int64
    let connection: MQTTChuckConnection
    /// What the topic alias of the packet stands for, which an earlier packet may have said that is not in the file.
    let alias: (number: UInt16, topic: String)?
    let link: ExchangeLink?
}
