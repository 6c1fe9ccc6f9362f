import Synchronization

/// Some event loops that share the connections of a process, one by default.
///
/// One loop carries 1,000 connections; more are for processes whose single loop would be busy all the time.
public final class EventLoopGroup: Sendable {
    /// The loops, in the order of ``next()``.
    public let loops: [EventLoop]

    private let position = Atomic<Int>(0)

    /// Starts some loops.
    ///
    /// - Parameters:
    ///   - count: How many, 1 by default and at least 1.
    ///   - name: The name of their threads, with a number where there are several.
    ///   - clock: What tells the time to all of them; the real clock by default.
    ///   - readBufferSize: How many bytes one read of any connection takes at most, 256 KiB by default. Less than 4 KiB is
    ///     raised to that, more than 64 MiB is lowered to that; see ``EventLoop/readBufferSizes``. Each loop has one buffer
    ///     of the size, and a second one once it speaks TLS, however many connections it carries.
    ///   - priority: How much the threads matter beside others; ``LoopPriority/normal`` by default.
    /// - Throws: ``TransportError`` when the machine has no descriptor or thread left; loops started before are ended.
    public init(
        count: Int = 1, name: String = "courier-loop", clock: any LoopClock = RealLoopClock(),
        readBufferSize: Int = EventLoop.readBufferSize, priority: LoopPriority = .normal
    ) throws(TransportError) {
        var started: [EventLoop] = []
        do throws(TransportError) {
            for number in 0..<max(1, count) {
                let name = count > 1 ? "\(name)-\(number)" : name
                started.append(
                    try EventLoop(name: name, clock: clock, readBufferSize: readBufferSize, priority: priority))
            }
        } catch {
            for loop in started { loop.shutdownAndWait() }
            throw error
        }
        loops = started
    }

    /// The loop for the next connection: each in its turn.
    public func next() -> EventLoop {
        let number = position.wrappingAdd(1, ordering: .relaxed).oldValue
        return loops[Int(UInt(bitPattern: number) % UInt(loops.count))]
    }

    /// Shuts all loops down, see ``EventLoop/shutdown()``.
    public func shutdown() async {
        for loop in loops { await loop.shutdown() }
    }
}
