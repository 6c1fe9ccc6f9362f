import Foundation
import Testing

extension FaultyDisk {
    /// A disk without failures and without waiting for syncs, for tests that do not simulate a power cut.
    static let quick = FaultyDisk()
}

/// Writes a file without waiting for the disk. Foundation's other methods wait.
func write(_ bytes: some Sequence<UInt8>, to path: String) throws {
    let bytes = Array(bytes)
    let stream = try #require(OutputStream(toFileAtPath: path, append: false))
    stream.open()
    defer { stream.close() }
    var written = 0
    while written < bytes.count {
        let count = bytes[written...].withUnsafeBufferPointer { part in
            part.baseAddress.map { stream.write($0, maxLength: part.count) } ?? 0
        }
        try #require(count > 0)
        written += count
    }
}
