import CourierCore
public import Foundation

extension MQTTChuckLogger {
    /// Adds the packets of a JSON Lines export to this logger.
    ///
    /// A new logger gives the packets the same numbers as the exporting logger. A logger that already has rows may
    /// renumber the packets, so that they follow its own rows.
    ///
    /// Clients may record into this logger during the import. Their rows then come between the imported rows. If a
    /// client records rows in the middle of an imported exchange, the packets that follow these rows are not linked to
    /// the exchange.
    ///
    /// The limits and redaction rules of this logger apply, and its metrics count the added packets. If a line cannot
    /// be read, the packets of earlier lines remain added.
    ///
    /// - Parameter data: The contents of the file.
    /// - Returns: The number of added packets.
    /// - Throws: ``MQTTChuckImportError`` with the first line that cannot be read.
    @discardableResult
    public func importJSONLines(_ data: Data) throws -> Int {
        var connections: [UInt64: MQTTChuckConnection] = [:]
        let decoder = JSONDecoder()
        var restoring = PacketRestoring(self)
        for (index, text) in data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
        where !text.isEmpty {
            func problem(_ message: String) -> MQTTChuckImportError {
                MQTTChuckImportError(line: index + 1, message: message)
            }
            guard let line = try? decoder.decode(RecordedLine.self, from: Data(text)) else {
                throw problem("the line is not from a recording; export the recording as JSON Lines")
            }
            if let described = line.connection {
                guard let connection = described.value else {
                    throw problem("the connection has an unknown protocol or an invalid time")
                }
                connections[connection.id] = connection
            }
            guard let packet = line.packet else { continue }
            guard let connection = connections[packet.connection] else {
                throw problem("connection \(packet.connection) is not described by an earlier line")
            }
            guard let time = WrittenTime.nanoseconds(packet.time) else { throw problem("the time is invalid") }
            do throws(PacketRestoring.Refusal) {
                try restoring.restore(Self.record(packet, time, connection))
            } catch {
                throw problem(Self.sentence(error))
            }
        }
        return restoring.count
    }

    private static func sentence(_ refusal: PacketRestoring.Refusal) -> String {
        switch refusal {
        case .hasNoBytes: "the packet has no bytes"
        case .numberIsTooLarge: "the packet number is above \(PacketRestoring.largestNumber)"
        case .numberDoesNotGrow: "the packet numbers must increase from line to line"
        }
    }

    private static func record(
        _ packet: RecordedPacketLine, _ time: Int64, _ connection: MQTTChuckConnection
    ) -> PacketRecord {
        var alias: (UInt16, String)?
        if let number = packet.topicAlias, let topic = packet.topic { alias = (number, topic) }
        var link: ExchangeLink?
        if let start = packet.exchange, start < packet.number, let elapsed = packet.elapsedNanoseconds {
            link = ExchangeLink(
                row: packet.number, start: start, elapsed: elapsed, isLast: packet.endsExchange ?? false)
        }
        return PacketRecord(
            number: packet.number, bytes: [UInt8](packet.bytes), wholeSize: packet.size,
            direction: packet.direction == "out" ? .outgoing : .incoming, time: time, connection: connection,
            alias: alias, link: link)
    }
}
