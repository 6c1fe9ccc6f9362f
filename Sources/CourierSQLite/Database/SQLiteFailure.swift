import CSQLite
package import CourierCore
public import Foundation

/// What SQLite says about a call that failed: the cause beneath a `CourierError` of the store.
///
/// Neither the text nor the operation holds a payload, a topic or another stored value.
public struct SQLiteFailure: Error, Hashable, Sendable {
    /// SQLite's extended result code, such as 778 for a failed write.
    public let extendedCode: Int32

    /// SQLite's text for it.
    public let message: String

    /// What the store was doing, as in "committing".
    public let operation: String

    /// Collects the fields.
    ///
    /// - Parameters:
    ///   - extendedCode: SQLite's extended result code.
    ///   - message: SQLite's text for it.
    ///   - operation: What the store was doing.
    public init(extendedCode: Int32, message: String, operation: String) {
        self.extendedCode = extendedCode
        self.message = message
        self.operation = operation
    }

    /// SQLite's primary result code.
    package var code: Int32 { extendedCode & 0xFF }

    /// The file is not what it should be, as opposed to the disk or the call.
    package var isDamage: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_FORMAT }

    /// Stands for a file of another version.
    static let wrongVersion = SQLITE_MISMATCH
    /// Stands for a file that is no message store.
    static let noStore = SQLITE_NOTADB

    /// The failure to create a file, for calls that report only failures of SQLite.
    package init(creating error: CourierError) {
        self.init(
            extendedCode: error.code == .storeFull ? SQLITE_FULL : SQLITE_CANTOPEN, message: error.message,
            operation: "creating the file")
    }

    /// A row that SQLite could read and that makes no sense.
    package static func unreadableRow(in table: String) -> SQLiteFailure {
        SQLiteFailure(
            extendedCode: SQLITE_CORRUPT, message: "a row of table \(table) can not be understood",
            operation: "reading")
    }
}

extension SQLiteFailure: CustomStringConvertible {
    /// The operation, SQLite's text and the code.
    public var description: String { "\(operation): \(message) (SQLite \(extendedCode))" }
}

extension SQLiteFailure: CustomNSError {
    /// The domain `SQLite`.
    public static var errorDomain: String { "SQLite" }

    /// SQLite's extended result code.
    public var errorCode: Int { Int(extendedCode) }
}
