import Glibc
import Testing

@testable import CourierTransport

/// The system call `close_range(2)`, which Swift's `Glibc` does not declare.
@_silgen_name("close_range")
private func closeRange(_ first: UInt32, _ last: UInt32, _ flags: UInt32) -> Int32

/// Runs code on a thread that has no free file descriptors, while all other threads have some.
enum FullDescriptorTable {
    struct Impossible: Error {}

    static let requirement: Comment = "needs Linux 5.9, and a limit of descriptors of a million at most"

    /// True if such a thread can be created on this system.
    static let isPossible: Bool = {
        guard (1...1 << 20).contains(sysconf(Int32(_SC_OPEN_MAX))) else { return false }
        return (try? failure { throw TransportError(.systemFailure, "reached") }) != nil
    }()

    /// `CLOSE_RANGE_UNSHARE`: the thread gets its own descriptor table. The call then closes the descriptors in that
    /// table only.
    private static let unshare: UInt32 = 2

    /// Returns the error that `body` throws on such a thread.
    ///
    /// - Throws: An error if such a thread can not be created.
    static func failure(of body: @escaping @Sendable () throws -> Void) throws -> TransportError? {
        let isFull = Watched(false)
        let failure = Watched<TransportError?>(nil)
        let thread = try LoopThread(name: "test-full") {
            guard closeRange(3, .max, unshare) == 0 else { return }
            while fcntl(2, F_DUPFD, 0) >= 0 {}
            guard errno == EMFILE else { return }
            isFull.update { $0 = true }
            do {
                try body()
            } catch {
                let thrown = error as? TransportError
                failure.update { $0 = thrown }
            }
        }
        thread.join()
        guard isFull.value else { throw Impossible() }
        return failure.value
    }
}
