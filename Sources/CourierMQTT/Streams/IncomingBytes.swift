import CourierTransport
import Foundation

/// Bytes from a thread that waits for them to the event loop, which never waits.
///
/// Safe to share: everything mutable is touched under the lock of `condition` only.
final class IncomingBytes: @unchecked Sendable {
    /// How the input ended.
    enum End: Equatable, Sendable {
        case ended
        case failed(TransportError)
    }

    /// The result for the loop.
    enum Taken: Equatable, Sendable {
        case bytes(Int)
        case nothingYet
        case end(End)
    }

    private let condition = NSCondition()
    private let capacity: Int
    private var bytes: [UInt8] = []
    /// How many of `bytes` have been taken.
    private var takenCount = 0
    private var end: End?
    private var isClosed = false

    /// The thread waits once so many bytes wait for the loop.
    init(capacity: Int) { self.capacity = max(capacity, 1) }

    // MARK: The thread's side

    /// Adds bytes, waiting for room if need be.
    ///
    /// - Returns: Whether anybody wants more.
    func put(_ chunk: ArraySlice<UInt8>) -> Bool {
        condition.withLock {
            while bytes.count - takenCount >= capacity, !isClosed { condition.wait() }
            guard !isClosed else { return false }
            if takenCount >= capacity {
                bytes.removeFirst(takenCount)
                takenCount = 0
            }
            bytes.append(contentsOf: chunk)
            return true
        }
    }

    /// Nothing follows; the loop learns it behind the bytes. The first end counts.
    func finish(_ end: End) { condition.withLock { self.end = self.end ?? end } }

    // MARK: The loop's side

    /// Moves bytes into `space`.
    func take(into space: UnsafeMutableRawBufferPointer) -> Taken {
        condition.withLock {
            let count = min(bytes.count - takenCount, space.count)
            guard count > 0 else { return end.map(Taken.end) ?? .nothingYet }
            bytes.withUnsafeBytes { source in
                space.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[takenCount..<(takenCount + count)]))
            }
            takenCount += count
            if takenCount == bytes.count {
                bytes.removeAll(keepingCapacity: true)
                takenCount = 0
            }
            condition.signal()
            return .bytes(count)
        }
    }

    /// Ends the buffer: no more bytes are taken.
    func close() {
        condition.withLock {
            isClosed = true
            bytes = []
            takenCount = 0
            condition.signal()
        }
    }
}
