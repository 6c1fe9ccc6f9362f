public import Foundation
import Synchronization

extension MQTTChuckLogger {
    /// Writes the rows that the logger holds, oldest first, in pieces.
    ///
    /// Recording continues during the export. Rows that are recorded after the call are not exported. Rows that the
    /// logger drops before the export reaches them are missing in the export. The export runs on the caller's thread
    /// and can take seconds for a full logger.
    ///
    /// - Parameters:
    ///   - format: The format of the export.
    ///   - query: Selects the rows; all rows by default.
    ///   - write: Receives the next piece. Only one call runs at a time.
    /// - Throws: Any error that `write` throws.
    public func export(
        _ format: MQTTChuckExportFormat, matching query: MQTTChuckQuery = .all, to write: (Data) throws -> Void
    ) throws {
        let reader = RowReader(options)
        switch format {
        case .text:
            let text = TextExport()
            try forEachRow(matching: query, reader) { rows in
                try write(Data(rows.map { text.line(reader.row($0)) + "\n" }.joined().utf8))
            }
        case .jsonLines:
            var lines = JSONLinesExport(reader)
            try forEachRow(matching: query, reader) { rows in try write(lines.lines(rows)) }
        case .pcapng:
            var capture = PcapngExport()
            try write(Data(capture.header()))
            try forEachRow(matching: query, reader) { rows in try write(Data(capture.blocks(rows))) }
        }
    }

    /// Returns an export as one piece of data.
    ///
    /// - Parameters:
    ///   - format: The format of the export.
    ///   - query: Selects the rows; all rows by default.
    /// - Returns: The whole export.
    public func exported(_ format: MQTTChuckExportFormat, matching query: MQTTChuckQuery = .all) -> Data {
        var data = Data()
        try? export(format, matching: query) { data += $0 }  // Appending does not throw.
        return data
    }

    /// Calls `body` with the rows that the logger holds at the time of the call, at most 256 rows per call.
    func forEachRow(matching query: MQTTChuckQuery, _ reader: RowReader, _ body: ([RawRow]) throws -> Void) rethrows {
        var next: UInt64 = 0
        let end = state.withLock { $0.recorder.nextRow }
        while next < end {
            let part = rawRows(from: next, limit: Self.chunk).filter { $0.number < end }
            guard let last = part.last else { return }
            next = last.number + 1
            let wanted = timed(part, for: query).filter { query.matches($0, reader) }
            if !wanted.isEmpty { try body(wanted) }
        }
    }
}
