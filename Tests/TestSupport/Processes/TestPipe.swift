import Glibc
import Testing

/// The system call `pipe2(2)`, which Swift's `Glibc` module does not declare.
@_silgen_name("pipe2")
private func pipe2(_ ends: UnsafeMutablePointer<Int32>, _ flags: Int32) -> Int32

/// A pipe that no child process inherits. The test closes both ends.
package struct TestPipe: Sendable {
    package let reader: Int32
    package let writer: Int32

    package init() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe2(&ends, O_CLOEXEC) == 0)
        (reader, writer) = (ends[0], ends[1])
    }
}
