import Foundation
import Synchronization

/// The far end of a line, like an accessory behind a slow connection. It forwards bytes to the broker and back, a few
/// at a time. Each direction has its own thread, which may block.
final class Peer: Sendable {
    /// The maximum number of bytes of one read.
    static let biteSize = 7

    /// The amount of data that was forwarded in one direction.
    struct Tally: Sendable {
        var bytes = 0
        var bites = 0
    }

    private let reading: Int32
    private let writing: Int32
    private let socket: Int32
    private let gate = Gate()
    private let takenTally = Mutex(Tally())
    private let givenTally = Mutex(Tally())
    private let ends = AsyncStream.makeStream(of: Void.self)

    /// Takes ownership of the descriptors, which may be equal, and connects to the broker on a port of this machine. If
    /// that fails, it closes the descriptors.
    init(reading: Int32, writing: Int32, brokerPort: UInt16) throws {
        self.reading = reading
        self.writing = writing
        do {
            socket = try Descriptors.socket(to: brokerPort)
        } catch {
            close(reading)
            if writing != reading { close(writing) }
            throw error
        }
        Thread { [self] in takeAll() }.start()
        Thread { [self] in giveAll() }.start()
    }

    deinit {
        close(socket)
        close(reading)
    }

    /// The data that the peer has read from the line.
    var taken: Tally { takenTally.withLock { $0 } }
    /// The data that the peer has written to the line.
    var given: Tally { givenTally.withLock { $0 } }
    /// The number of bytes on the line that the peer has not read yet.
    var waitingCount: Int { Descriptors.waitingCount(reading) }

    /// Stops reading from the line. A read that has already begun is completed.
    func hold() { gate.close() }

    /// Continues to read from the line.
    func release() { gate.open() }

    /// Waits until both directions have ended.
    func ended() async { for await _ in ends.stream.prefix(2) {} }

    private func takeAll() {
        Self.pass(from: reading, to: socket, count: takenTally) { gate.pass() }
        shutdown(socket, Int32(SHUT_WR))
        ends.continuation.yield()
    }

    private func giveAll() {
        Self.pass(from: socket, to: writing, count: givenTally) {}
        // Closing is the only way to report the end to the reader of a pipe. No other code writes to this pipe.
        if writing != reading { close(writing) }
        ends.continuation.yield()
    }

    /// Forwards bytes until one side has ended.
    private static func pass(
        from source: Int32, to target: Int32, count tally: borrowing Mutex<Tally>, beforeEach: () -> Void
    ) {
        var bite = [UInt8](repeating: 0, count: biteSize)
        while true {
            beforeEach()
            let count = read(source, &bite, bite.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }  // After a hang-up, reading a pseudo-terminal returns an error.
            tally.withLock { tally in
                tally.bytes += count
                tally.bites += 1
            }
            var written = 0
            while written < count {
                let result = bite[written..<count].withUnsafeBytes { write(target, $0.baseAddress, $0.count) }
                if result < 0, errno == EINTR { continue }
                guard result > 0 else { return }
                written += result
            }
        }
    }
}

/// Blocks threads while it is closed.
///
/// Safe to share: `isOpen` is used only while `condition` is locked.
private final class Gate: @unchecked Sendable {
    private let condition = NSCondition()
    private var isOpen = true

    func open() {
        condition.withLock {
            isOpen = true
            condition.broadcast()
        }
    }

    func close() { condition.withLock { isOpen = false } }

    func pass() {
        condition.withLock {
            while !isOpen { condition.wait() }
        }
    }
}
