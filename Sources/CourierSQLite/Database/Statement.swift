import CSQLite

/// A prepared statement, which can be bound and run many times.
package final class Statement {
    private let handle: OpaquePointer
    private let operation: String
    /// The result code of the first binding that failed since the last run; `SQLITE_OK` if none failed.
    private var bindingCode = SQLITE_OK

    fileprivate static let emptyBytes = [UInt8](repeating: 0, count: 1)

    /// Makes a statement that owns `handle`, and finalizes it when the statement is released.
    init(_ handle: OpaquePointer, _ operation: String) {
        self.handle = handle
        self.operation = operation
    }

    deinit { sqlite3_finalize(handle) }

    // MARK: Running

    /// Advances to the next row.
    ///
    /// - Returns: True if there is a row. After the last row, the statement is ready to be used again.
    package func step() throws(SQLiteFailure) -> Bool {
        let code = bindingCode == SQLITE_OK ? sqlite3_step(handle) : bindingCode
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE:
            reset()
            return false
        default:
            let failure = failure(code)
            reset()
            throw failure
        }
    }

    /// Runs a statement to its end and ignores its rows.
    package func run() throws(SQLiteFailure) {
        while try step() {}
    }

    /// Runs a statement that changes rows.
    ///
    /// - Returns: The number of changed rows.
    func runAndCount() throws(SQLiteFailure) -> Int {
        try run()
        return sqlite3_db_handle(handle).map { Int(sqlite3_changes($0)) } ?? 0
    }

    /// Makes the statement ready to be used again, even if some of its rows were not read.
    package func reset() {
        bindingCode = SQLITE_OK
        sqlite3_reset(handle)
    }

    private func failure(_ code: Int32) -> SQLiteFailure {
        let message = sqlite3_db_handle(handle).flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) }
        return SQLiteFailure(extendedCode: code, message: message ?? "unknown", operation: operation)
    }

    // MARK: Binding

    @discardableResult
    package func bind(_ index: Int32, _ value: Int64) -> Statement { check(sqlite3_bind_int64(handle, index, value)) }

    @discardableResult
    package func bind(_ index: Int32, real value: Double) -> Statement {
        check(sqlite3_bind_double(handle, index, value))
    }

    @discardableResult
    package func bindNull(_ index: Int32) -> Statement { check(sqlite3_bind_null(handle, index)) }

    /// Binds a copy of a string.
    @discardableResult
    package func bind(_ index: Int32, _ text: String) -> Statement {
        var text = text
        let code = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                courier_sqlite3_bind_text_copy(handle, index, $0.baseAddress, Int32(clamping: $0.count))
            }
        }
        // Bind a literal empty string. The address of an empty Swift string may be null, and SQLite would bind NULL.
        return check(text.isEmpty ? courier_sqlite3_bind_text_copy(handle, index, "", 0) : code)
    }

    /// Binds bytes without copying them, calls `body`, and removes the binding.
    package func lending(
        _ index: Int32, blob: [UInt8], _ body: () throws(SQLiteFailure) -> Void
    ) throws(SQLiteFailure) {
        let result: Result<Void, SQLiteFailure> = (blob.isEmpty ? Self.emptyBytes : blob).withUnsafeBytes { bytes in
            _ = check(sqlite3_bind_blob64(handle, index, bytes.baseAddress, UInt64(blob.count), nil))
            do throws(SQLiteFailure) { return .success(try body()) } catch { return .failure(error) }
        }
        sqlite3_bind_null(handle, index)
        try result.get()
    }

    /// Binds a copy of bytes.
    @discardableResult
    package func bind(_ index: Int32, blob: [UInt8]) -> Statement {
        check(
            (blob.isEmpty ? Self.emptyBytes : blob).withUnsafeBytes {
                courier_sqlite3_bind_blob_copy(handle, index, $0.baseAddress, Int32(clamping: blob.count))
            })
    }

    private func check(_ code: Int32) -> Statement {
        if code != SQLITE_OK, bindingCode == SQLITE_OK { bindingCode = code }
        return self
    }

    // MARK: Columns of the current row

    package func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
    package func real(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }
    package func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    /// Returns the text of a column; `nil` if the column is not text or not UTF-8.
    package func text(_ column: Int32) -> String? {
        guard sqlite3_column_type(handle, column) == SQLITE_TEXT, let bytes = sqlite3_column_text(handle, column) else {
            return nil
        }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(validating: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    /// Returns the bytes of a column; `nil` if the column is not a blob.
    package func blob(_ column: Int32) -> [UInt8]? {
        guard sqlite3_column_type(handle, column) == SQLITE_BLOB else { return nil }
        guard let bytes = sqlite3_column_blob(handle, column) else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column))))
    }
}
