import Foundation
import Synchronization
import TrialSupport

/// A text file with the events of a run, line by line, to find the cause of a failure.
final class Journal: Sendable {
    private let file: FileHandle
    /// The clock of the run.
    let clock = RunClock()
    private let buffer = Mutex<[UInt8]>([])

    init(_ path: String) throws {
        try Data().write(to: URL(fileURLWithPath: path))
        file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    }

    func note(_ text: String) {
        let line = "\(clock.time(.now)) \(text)\n"
        let full = buffer.withLock { buffer -> [UInt8] in
            buffer += Array(line.utf8)
            guard buffer.count >= 1 << 16 else { return [] }
            defer { buffer = [] }
            return buffer
        }
        if !full.isEmpty { file.write(Data(full)) }
    }

    func flush() {
        let rest = buffer.withLock { buffer in
            defer { buffer = [] }
            return buffer
        }
        file.write(Data(rest))
    }
}
