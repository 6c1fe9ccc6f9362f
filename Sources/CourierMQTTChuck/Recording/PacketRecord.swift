package import CourierCore
import MQTTCodec

/// A packet with all that a logger knows of it, as it goes into a file and comes back.
package struct PacketRecord: Sendable {
    /// The number of its row.
    package var number: UInt64
    /// What was kept of it, secrets overwritten.
    package let bytes: [UInt8]
    /// Its size on the wire.
    package let wholeSize: Int
    package let direction: PacketBatch.Direction
    /// By the wall clock, in nanoseconds since 1970.
    package let time: Int64
    package let connection: MQTTChuckConnection
    /// What the topic alias of the packet stands for, which an earlier packet may have said that is not in the file.
    package let alias: (number: UInt16, topic: String)?
    /// The exchange that an earlier packet began; `nil` for a packet that begins one or has none.
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

    /// What a logger keeps.
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

    /// The same under a later number, as its exchange.
    func shifted(by shift: UInt64) -> PacketRecord {
        var copy = self
        copy.number += shift
        copy.link = link.map { $0.shifted(by: shift) }
        return copy
    }
}
