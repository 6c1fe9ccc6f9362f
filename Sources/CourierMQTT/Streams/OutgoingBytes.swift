import CourierTransport
import Foundation

/// Passes bytes from the event loop, which never blocks, to a thread that writes them.
///
/// Safe to share between threads: mutable state is used only under the lock of `condition`.
final class OutgoingBytes: @unchecked Sendable {
    private let condition = NSCondition()
    private let capacity: Int
    private var bytes: [UInt8] = []
    private var isEnded = false
    private var failure: TransportError?

    /// Creates a buffer for at most `capacity` waiting bytes. The writing thread may hold up to `capacity` further
    /// bytes.
    init(capacity: Int) { self.capacity = max(capacity, 1) }

    // MARK: Called on the event loop

    /// Copies as many bytes of `source` as there is room for, and returns their number.
    ///
    /// - Throws: The error of a write that failed earlier.
    func offer(_ source: UnsafeRawBufferPointer) throws(TransportError) -> Int {
        condition.lock()
        defer { condition.unlock() }
        if let failure { throw failure }
        let count = min(capacity - bytes.count, source.count)
        if count > 0 {
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: source[..<count]))
            condition.signal()
        }
        return count
    }

    /// Ends the output. Waiting bytes are still written, or dropped if `abruptly` is `true`.
    func finish(abruptly: Bool) {
        condition.withLock {
            isEnded = true
            if abruptly { bytes = [] }
            condition.signal()
        }
    }

    // MARK: Called on the writing thread

    /// Blocks the thread until there are bytes or the output has ended. Then replaces the contents of `chunk` with the
    /// waiting bytes.
    ///
    /// - Returns: `false` if the output has ended and there are no bytes.
    func next(_ chunk: inout [UInt8]) -> Bool {
        condition.withLock {
            while bytes.isEmpty, !isEnded { condition.wait() }
            chunk.removeAll(keepingCapacity: true)
            swap(&bytes, &chunk)
            return !chunk.isEmpty
        }
    }

    /// Records that a write failed. Later calls of `offer(_:)` throw `error`.
    func fail(_ error: TransportError) {
        condition.withLock {
            failure = error
            bytes = []
        }
    }
}
