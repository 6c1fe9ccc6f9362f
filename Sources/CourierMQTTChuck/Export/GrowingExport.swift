package import Foundation

/// An export that grows while the logger still records. Each call returns the rows since the previous call.
///
/// Only one thread at a time may use the export.
package struct GrowingExport {
    private let logger: MQTTChuckLogger
    private let reader: RowReader
    private let text = TextExport()
    private var lines: JSONLinesExport?
    private var capture: PcapngExport?
    private var nextRow: UInt64 = 0

    /// The number of rows that the logger dropped before they were exported.
    package private(set) var missedCount: UInt64 = 0

    /// Creates an export that begins with the oldest row of the logger.
    ///
    /// - Parameters:
    ///   - logger: The logger with the rows.
    ///   - format: The format of the export.
    package init(of logger: MQTTChuckLogger, _ format: MQTTChuckExportFormat) {
        self.logger = logger
        reader = RowReader(logger.options)
        if format == .jsonLines { lines = JSONLinesExport(reader) }
        if format == .pcapng { capture = PcapngExport() }
    }

    /// The beginning of the file. Write it before the first rows.
    package func header() -> Data { capture.map { Data($0.header()) } ?? Data() }

    /// Returns the rows that were recorded since the last call; no data if there are none.
    package mutating func newRows() -> Data {
        var data = Data()
        while true {
            let rows = logger.rawRows(from: nextRow, limit: MQTTChuckLogger.chunk)
            guard let first = rows.first, let last = rows.last else { return data }
            if nextRow > 0 { missedCount += first.number - nextRow }
            nextRow = last.number + 1
            if let written = lines?.lines(rows) {
                data += written
            } else if let blocks = capture?.blocks(rows) {
                data += Data(blocks)
            } else {
                data += Data(rows.map { text.line(reader.row($0)) + "\n" }.joined().utf8)
            }
        }
    }
}
