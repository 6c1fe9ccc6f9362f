import Foundation
import Testing

extension FaultyDisk {
    /// A disk on which nothing fails and nothing waits: for tests that do not cut the power.
    static let quick = FaultyDisk()
}

/// Writes a file without waiting for the disk, as Foundation's other ways do.
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
