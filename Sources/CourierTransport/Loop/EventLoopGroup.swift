import Synchronization

/// Some event loops that share the connections of a process, one by default.
///
/// One loop carries 1,000 connections; more are for processes whose single loop would be busy all the time.
public final class EventLoopGroup: Sendable {
    /// The loops, in the order of ``next()``.
    public let loops: [EventLoop]

    private let position = Atomic<Int>(0)

    /// Starts `count` loops, 1 by default and at least 1, which all go by `clock`.
    ///
    /// - Throws: ``TransportError`` when the machine has no descriptor or thread left; loops started before are ended.
    public init(
        count: Int = 1, name: String = "courier-loop", clock: any LoopClock = RealLoopClock()
    ) throws(TransportError) {
        var started: [EventLoop] = []
        do throws(TransportError) {
            for number in 0..<max(1, count) {
                started.append(try EventLoop(name: count > 1 ? "\(name)-\(number)" : name, clock: clock))
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
