import Synchronization

/// A group of event loops that share the connections of a process; by default one loop.
///
/// One loop is usually enough, because it can serve 1,000 connections. Use more loops only if a single loop would be
/// busy all the time.
public final class EventLoopGroup: Sendable {
    /// The loops, in the order in which ``next()`` returns them.
    public let loops: [EventLoop]

    private let position = Atomic<Int>(0)

    /// Creates a group and starts its loops.
    ///
    /// - Parameters:
    ///   - count: The number of loops; 1 by default and at least 1.
    ///   - name: The name of the threads. If there are several threads, each name ends with a number.
    ///   - clock: The clock of all loops; by default the real clock.
    ///   - readBufferSize: The maximum number of bytes that one read of a connection returns, by default 256 KiB. The
    ///     value is limited to 4 KiB … 64 MiB; see ``EventLoop/readBufferSizes``. Each loop has one buffer of this size
    ///     for all its connections, and a second buffer if it uses TLS.
    ///   - priority: The priority of the threads relative to other threads; by default ``LoopPriority/normal``.
    /// - Throws: ``TransportError`` if the system has no descriptor or thread left. Loops that were already started are
    ///   shut down.
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

    /// Returns the loop for the next connection. The loops take turns.
    public func next() -> EventLoop {
        let number = position.wrappingAdd(1, ordering: .relaxed).oldValue
        return loops[Int(UInt(bitPattern: number) % UInt(loops.count))]
    }

    /// Shuts down all loops; see ``EventLoop/shutdown()``.
    public func shutdown() async {
        for loop in loops { await loop.shutdown() }
    }
}
