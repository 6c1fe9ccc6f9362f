import CSQLite
package import CourierCore
public import Foundation

/// The failure of an SQLite call, which is the `cause` of a `CourierError` from the store.
///
/// The message and the operation never contain a payload, a topic or another stored value.
public struct SQLiteFailure: Error, Hashable, Sendable {
    /// SQLite's extended result code, such as 778 for a failed write.
    public let extendedCode: Int32

    /// SQLite's error message.
    public let message: String

    /// The operation of the store that failed, such as "committing".
    public let operation: String

    /// Creates a failure from its fields.
    ///
    /// - Parameters:
    ///   - extendedCode: SQLite's extended result code.
    ///   - message: SQLite's error message.
    ///   - operation: The operation of the store that failed.
    public init(extendedCode: Int32, message: String, operation: String) {
        self.extendedCode = extendedCode
        self.message = message
        self.operation = operation
    }

    /// SQLite's primary result code.
    package var code: Int32 { extendedCode & 0xFF }

    /// True if the content of the file is damaged. False if the disk or the call failed.
    package var isDamage: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_FORMAT }

    /// True if this failure occurred while a file was opened, and means that the content of the file is damaged. A
    /// general error of SQLite also counts as damage. The SQL of this library is correct, so the format or the tables
    /// of the file must be wrong.
    package var isDamageOfOpenedFile: Bool { isDamage || code == SQLITE_ERROR }

    /// The result code for a file with an unsupported version.
    static let wrongVersion = SQLITE_MISMATCH
    /// The result code for a file that is not a message store.
    static let noStore = SQLITE_NOTADB

    /// Converts the error for a file that could not be created. Functions that throw only `SQLiteFailure` use this
    /// initializer.
    package init(creating error: CourierError) {
        self.init(
            extendedCode: error.code == .storeFull ? SQLITE_FULL : SQLITE_CANTOPEN, message: error.message,
            operation: "creating the file")
    }

    /// Returns the failure for a row with invalid values, which SQLite itself can read.
    package static func unreadableRow(in table: String) -> SQLiteFailure {
        SQLiteFailure(
            extendedCode: SQLITE_CORRUPT, message: "a row of the table \(table) is invalid",
            operation: "reading")
    }
}

extension SQLiteFailure: CustomStringConvertible {
    /// The operation, SQLite's error message and the result code.
    public var description: String { "\(operation): \(message) (SQLite \(extendedCode))" }
}

extension SQLiteFailure: CustomNSError {
    /// The `NSError` domain, which is `SQLite`.
    public static var errorDomain: String { "SQLite" }

    /// SQLite's extended result code.
    public var errorCode: Int { Int(extendedCode) }
}
