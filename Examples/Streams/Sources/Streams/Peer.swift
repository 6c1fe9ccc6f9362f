import Foundation
import Synchronization

/// The far end of a stream: what stands there passes the bytes on to a broker, in both directions and a few at a time,
/// as an accessory behind a slow line does. Each direction has a thread, which may wait.
final class Peer: Sendable {
    /// How many bytes it takes or gives at once.
    static let biteSize = 7

    /// What went in one direction.
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

    /// Takes descriptors over, which may be the same, and connects them with the broker on a port of this machine. Closes
    /// them if it cannot.
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

    /// What it took from the stream.
    var taken: Tally { takenTally.withLock { $0 } }
    /// What it gave to the stream.
    var given: Tally { givenTally.withLock { $0 } }
    /// How many bytes are in the stream, not taken yet.
    var waitingCount: Int { Descriptors.waitingCount(reading) }

    /// Takes nothing any more, but for the bite that it may be at.
    func hold() { gate.close() }

    /// Takes again.
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
        // The reader of a pipe learns of its end by this only. Nobody else writes to it.
        if writing != reading { close(writing) }
        ends.continuation.yield()
    }

    /// Passes bites until either side has ended.
    private static func pass(
        from source: Int32, to target: Int32, count tally: borrowing Mutex<Tally>, beforeEach: () -> Void
    ) {
        var bite = [UInt8](repeating: 0, count: biteSize)
        while true {
            beforeEach()
            let count = read(source, &bite, bite.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }  // A pseudo-terminal that was hung up answers with an error.
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

/// Lets threads pass while it is open.
///
/// Safe to share: `isOpen` is touched under the lock of `condition` only.
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
