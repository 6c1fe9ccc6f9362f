import CourierTransport
import Foundation

/// Passes bytes from a reading thread, which may block, to the event loop, which never blocks.
///
/// Safe to share between threads: mutable state is used only under the lock of `condition`.
final class IncomingBytes: @unchecked Sendable {
    /// The reason why the input ended.
    enum End: Equatable, Sendable {
        case ended
        case failed(TransportError)
    }

    /// The result of `take(into:)`.
    enum Taken: Equatable, Sendable {
        case bytes(Int)
        case nothingYet
        case end(End)
    }

    private let condition = NSCondition()
    private let capacity: Int
    private var bytes: [UInt8] = []
    /// The number of bytes at the start of `bytes` that the event loop has taken.
    private var takenCount = 0
    private var end: End?
    private var isClosed = false

    /// Creates a buffer. The reading thread blocks while `capacity` bytes or more wait for the event loop.
    init(capacity: Int) { self.capacity = max(capacity, 1) }

    // MARK: Called on the reading thread

    /// Adds bytes. Blocks the thread until there is room.
    ///
    /// - Returns: `false` if the buffer was closed. The thread must then end.
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

    /// Ends the input. The event loop receives `end` after all bytes. Only the first call has an effect.
    func finish(_ end: End) { condition.withLock { self.end = self.end ?? end } }

    // MARK: Called on the event loop

    /// Moves waiting bytes into `space`, and returns their number. If no bytes wait, returns the end of the input, or
    /// `nothingYet`.
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

    /// Closes the buffer. Drops the waiting bytes, and accepts no more bytes.
    func close() {
        condition.withLock {
            isClosed = true
            bytes = []
            takenCount = 0
            condition.signal()
        }
    }
}
