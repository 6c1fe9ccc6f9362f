package import CourierCore
import MQTTCodec

/// A packet with everything that a logger knows about it, to be written to a file and read back.
package struct PacketRecord: Sendable {
    /// The row number of the packet.
    package var number: UInt64
    /// The stored bytes of the packet, with secrets overwritten. A large packet may be cut.
    package let bytes: [UInt8]
    /// The original size of the packet in bytes.
    package let wholeSize: Int
    package let direction: PacketBatch.Direction
    /// The wall-clock time of the packet, in nanoseconds since 1970.
    package let time: Int64
    package let connection: MQTTChuckConnection
    /// The topic alias of the packet, and the topic that the alias stands for; `nil` without an alias. The topic is
    /// included because the file may lack the packet that defined the alias.
    package let alias: (number: UInt16, topic: String)?
    /// The link to the exchange that an earlier packet began; `nil` if this packet begins an exchange or belongs to
    /// none.
    package var link: ExchangeLink?

    package init(
        number: UInt64, bytes: [UInt8], wholeSize: Int, direction: PacketBatch.Direction, time: Int64,
        connection: MQTTChuckConnection, alias: (number: UInt16, topic: String)?, link: ExchangeLink?
    ) {
        self.number = number
        self.bytes = bytes
        self.wholeSize = wholeSize
        self.direction = direction
        self.time = time
        self.connection = connection
        self.alias = alias
        self.link = link
    }

    /// Copies the values from a row of a logger.
    init(_ raw: RawRow) {
        var alias: (UInt16, String)?
        if let topic = raw.aliasTopic, case .success(let packet) = RowReader.packet(raw),
            case .publish(let publish) = packet, let number = publish.properties.topicAlias
        {
            alias = (number, topic)
        }
        self.init(
            number: raw.number, bytes: Array(raw.bytes), wholeSize: raw.size, direction: raw.direction, time: raw.time,
            connection: raw.connection, alias: alias, link: raw.link)
    }

    /// Returns a copy in which the row numbers of the packet and of its exchange are greater by `shift`.
    func shifted(by shift: UInt64) -> PacketRecord {
        var copy = self
        copy.number += shift
        copy.link = link.map { $0.shifted(by: shift) }
        return copy
    }
}
