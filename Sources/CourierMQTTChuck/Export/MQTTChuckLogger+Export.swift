public import Foundation
import Synchronization

extension MQTTChuckLogger {
    /// Writes the rows that are kept, oldest first, in pieces as they are made.
    ///
    /// Recording continues meanwhile; rows that come after the call are left out, and rows that are dropped before
    /// their turn are missing. It runs on the caller's thread, and can take seconds for a full logger.
    ///
    /// - Parameters:
    ///   - format: What the rows are written as.
    ///   - query: Which rows are wanted; all by default.
    ///   - write: Takes the next piece, one call at a time.
    /// - Throws: What `write` throws.
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

    /// The same as one piece of data.
    ///
    /// - Parameters:
    ///   - format: What the rows are written as.
    ///   - query: Which rows are wanted; all by default.
    /// - Returns: The whole export.
    public func exported(_ format: MQTTChuckExportFormat, matching query: MQTTChuckQuery = .all) -> Data {
        var data = Data()
        try? export(format, matching: query) { data += $0 }  // Appending does not throw.
        return data
    }

    /// Calls `body` with the rows that are kept now, some hundred at a time.
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
