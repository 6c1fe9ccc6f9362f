import CourierTransport
import Foundation

/// Bytes from the event loop, which never waits, to a thread that writes them.
///
/// Safe to share: everything mutable is touched under the lock of `condition` only.
final class OutgoingBytes: @unchecked Sendable {
    private let condition = NSCondition()
    private let capacity: Int
    private var bytes: [UInt8] = []
    private var isEnded = false
    private var failure: TransportError?

    /// So many bytes wait at most, beside as many that the thread is writing.
    init(capacity: Int) { self.capacity = max(capacity, 1) }

    // MARK: The loop's side

    /// Takes as many of the bytes as there is room for.
    ///
    /// - Throws: Why writing failed before.
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

    /// No more follows; what waits is still written, or forgotten if this is the end of a broken connection.
    func finish(abruptly: Bool) {
        condition.withLock {
            isEnded = true
            if abruptly { bytes = [] }
            condition.signal()
        }
    }

    // MARK: The thread's side

    /// Waits for bytes and swaps them for the empty `chunk`.
    ///
    /// - Returns: Whether there were any; there are no more then.
    func next(_ chunk: inout [UInt8]) -> Bool {
        condition.withLock {
            while bytes.isEmpty, !isEnded { condition.wait() }
            chunk.removeAll(keepingCapacity: true)
            swap(&bytes, &chunk)
            return !chunk.isEmpty
        }
    }

    /// Writing failed, and so will offering.
    func fail(_ error: TransportError) {
        condition.withLock {
            failure = error
            bytes = []
        }
    }
}
