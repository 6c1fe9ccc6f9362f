import Foundation

/// Writes packets as JSON Lines: one JSON object per line. A connection is written before its first packet.
struct JSONLinesExport {
    private let reader: RowReader
    private let encoder = JSONEncoder()
    private var written: Set<UInt64> = []

    init(_ reader: RowReader) {
        self.reader = reader
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    }

    mutating func lines(_ rows: [RawRow]) -> Data {
        var data = Data()
        for raw in rows {
            if written.insert(raw.connection.id).inserted {
                append(RecordedLine(connection: RecordedConnectionLine(raw.connection)), to: &data)
            }
            append(RecordedLine(packet: RecordedPacketLine(raw, reader.row(raw))), to: &data)
        }
        return data
    }

    private func append(_ line: RecordedLine, to data: inout Data) {
        // Encoding cannot fail, because a line contains only strings, numbers and bytes.
        guard let encoded = try? encoder.encode(line) else { return }
        data += encoded
        data.append(UInt8(ascii: "\n"))
    }
}
