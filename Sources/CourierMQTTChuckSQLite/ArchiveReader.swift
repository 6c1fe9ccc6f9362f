import CSQLite
import CourierCore
import CourierMQTTChuck
import CourierSQLite
import Foundation

/// Reads an archive file, possibly while an archive writes to it.
struct ArchiveReader {
    /// An upper bound for the memory of one row and its exchange link, without the bytes of the packet.
    private static let rowOverhead = 512

    /// An upper bound for the sizes in a file. It prevents an overflow when the sizes are added or multiplied below.
    private static let mostBytes = 1 << 48

    private let path: String
    private let database: Database

    init(_ url: URL) throws(CourierError) {
        path = url.resolvingSymlinksInPath().path
        guard FileManager.default.fileExists(atPath: path) else {
            throw CourierError(.storeFailed, "The archive \(path) does not exist.")
        }
        do throws(SQLiteFailure) {
            database = try Database(path: path, .reader, system: nil)
            guard case .archive = try ArchiveSchema.look(at: database) else {
                throw SQLiteFailure(
                    extendedCode: SQLITE_NOTADB, message: "the file has no tables that this version knows",
                    operation: "examining the file")
            }
        } catch {
            throw Self.notReadable(error, path)
        }
    }

    /// Returns the options, with limits that are large enough for all rows of the file.
    func options(_ options: MQTTChuckOptions) throws(CourierError) -> MQTTChuckOptions {
        do throws(SQLiteFailure) {
            let counting = "counting rows"
            let rows = Int(clamping: try database.number("SELECT count(*) FROM packet", counting))
            let bytes = Int(clamping: try database.number("SELECT sum(length(bytes)) FROM packet", counting))
            let largest = Int(clamping: try database.number("SELECT max(length(bytes)) FROM packet", counting))
            var options = options
            options.logsMaxSize = max(options.logsMaxSize, rows)
            options.packetMaxSize = max(options.packetMaxSize, largest)
            // A logger stores a whole packet only if the packet needs at most an eighth of the memory limit. So the
            // limit must be at least eight times the largest packet.
            options.logsMaxBytes = max(
                options.logsMaxBytes, min(bytes, Self.mostBytes) * 2 + min(rows, Self.mostBytes) * Self.rowOverhead,
                min(largest, Self.mostBytes) * 8)
            return options
        } catch {
            throw Self.notReadable(error, path)
        }
    }

    /// Adds all rows of the file to a logger, in one read transaction. Returns the number of added packets.
    @discardableResult
    func read(into logger: MQTTChuckLogger) throws(CourierError) -> Int {
        var restoring = PacketRestoring(logger)
        var last = Int64.min
        try read(into: &restoring, behind: &last)
        return restoring.count
    }

    /// Adds the rows of the file whose numbers are greater than `last`, in one read transaction. Sets `last` to the
    /// number of the last added row.
    func read(into restoring: inout PacketRestoring, behind last: inout Int64) throws(CourierError) {
        do throws(SQLiteFailure) {
            try database.execute("BEGIN", "reading")
            // If a row cannot be read, `last` is the number of the last row before it. The next call continues after
            // `last`, and so adds no row twice.
            let result = rows(into: &restoring, behind: &last)
            try database.execute("COMMIT", "reading")
            try result.get()
        } catch {
            throw Self.notReadable(error, path)
        }
    }

    private func rows(
        into restoring: inout PacketRestoring, behind last: inout Int64
    ) -> Result<Void, SQLiteFailure> {
        do throws(SQLiteFailure) {
            let connections = try connections()
            let packets = try database.prepare(
                "SELECT * FROM packet WHERE number > ? ORDER BY number", "reading packets")
            packets.bind(1, last)
            while try packets.step() {
                guard let record = Self.record(packets, connections), (try? restoring.restore(record)) != nil else {
                    throw SQLiteFailure.unreadableRow(in: "packet")
                }
                last = packets.integer(0)
            }
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    /// Returns a number that changes when another database connection writes to the file.
    func version() throws(CourierError) -> Int64 {
        do throws(SQLiteFailure) {
            return try database.number("PRAGMA data_version", "looking for changes")
        } catch {
            throw Self.notReadable(error, path)
        }
    }

    private func connections() throws(SQLiteFailure) -> [Int64: MQTTChuckConnection] {
        var connections: [Int64: MQTTChuckConnection] = [:]
        let rows = try database.prepare("SELECT key, line FROM connection", "reading connections")
        while try rows.step() {
            guard let line = rows.text(1), let id = UInt64(exactly: rows.integer(0)),
                let connection = MQTTChuckConnection.from(line: line, id: id)
            else { throw SQLiteFailure.unreadableRow(in: "connection") }
            connections[rows.integer(0)] = connection
        }
        return connections
    }

    private static func record(_ row: Statement, _ connections: [Int64: MQTTChuckConnection]) -> PacketRecord? {
        guard let number = UInt64(exactly: row.integer(0)), let connection = connections[row.integer(1)],
            let bytes = row.blob(10), let size = Int(exactly: row.integer(4)), size >= 0
        else { return nil }
        var alias: (UInt16, String)?
        if let value = UInt16(exactly: row.integer(5)), value > 0, let topic = row.text(6) { alias = (value, topic) }
        var link: ExchangeLink?
        if !row.isNull(7), let start = UInt64(exactly: row.integer(7)), start < number {
            link = ExchangeLink(
                row: number, start: start, elapsed: row.integer(8), isLast: row.integer(9) != 0)
        }
        return PacketRecord(
            number: number, bytes: bytes, wholeSize: size, direction: row.integer(3) != 0 ? .outgoing : .incoming,
            time: row.integer(2), connection: connection, alias: alias, link: link)
    }

    /// Converts a failure of SQLite to an error for the app. A file without the expected format or tables counts as
    /// damaged.
    private static func notReadable(_ failure: SQLiteFailure, _ path: String) -> CourierError {
        guard failure.code == SQLITE_ERROR else { return failure.archiveError(path) }
        return SQLiteFailure(
            extendedCode: SQLITE_CORRUPT, message: failure.message, operation: failure.operation
        ).archiveError(path)
    }
}
