import Glibc
import Testing

@testable import CourierTransport

/// `close_range(2)`, which Swift's `Glibc` leaves out.
@_silgen_name("close_range")
private func closeRange(_ first: UInt32, _ last: UInt32, _ flags: UInt32) -> Int32

/// A thread that has no descriptor left, while all others have.
enum FullDescriptorTable {
    struct Impossible: Error {}

    static let requirement: Comment = "needs Linux 5.9, and a limit of descriptors of a million at most"

    /// Whether there can be such a thread here.
    static let isPossible: Bool = {
        guard (1...1 << 20).contains(sysconf(Int32(_SC_OPEN_MAX))) else { return false }
        return (try? failure { throw TransportError(.systemFailure, "reached") }) != nil
    }()

    /// `CLOSE_RANGE_UNSHARE`: the thread gets a table of its own, which has none of the descriptors of the others.
    private static let unshare: UInt32 = 2

    /// What `body` throws on such a thread.
    ///
    /// - Throws: When there can be no such thread.
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
