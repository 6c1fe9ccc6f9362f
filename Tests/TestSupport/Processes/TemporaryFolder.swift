import Foundation
import Glibc
import Synchronization

/// A temporary folder that is deleted when this object is released, or at the latest when the process exits, unless it
/// is kept.
package final class TemporaryFolder: Sendable {
    private static let remaining = Mutex<Set<String>>([])
    private static let removesAtExit: Bool = atexit { TemporaryFolder.removeAll() } == 0

    package let path: String

    package init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("ct-\(UUID().uuidString.prefix(13))")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
        _ = Self.removesAtExit
        Self.remaining.withLock { [path] in _ = $0.insert(path) }
    }

    deinit { if Self.remaining.withLock({ [path] in $0.contains(path) }) { remove() } }

    /// Keeps the folder after the end of the process.
    package func keep() { Self.remaining.withLock { [path] in _ = $0.remove(path) } }

    /// Deletes the folder now, for programs that end before their objects are released.
    package func remove() {
        Self.remaining.withLock { [path] in _ = $0.remove(path) }
        try? FileManager.default.removeItem(atPath: path)
    }

    package func file(_ name: String) -> String { path + "/" + name }

    private static func removeAll() {
        for path in remaining.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
    }
}
