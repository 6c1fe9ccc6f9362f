import CourierTesting
import CourierTransport
import Synchronization
import Testing

@Suite struct `Virtual clock` {
    /// The entries of fired timers and tasks, in order.
    private final class Log: Sendable {
        private let entries = Mutex<[String]>([])
        var all: [String] { entries.withLock { $0 } }
        func add(_ entry: String) { entries.withLock { $0.append(entry) } }
    }

    private static func withLoop(_ body: (EventLoop, VirtualClock) async throws -> Void) async throws {
        let clock = VirtualClock()
        let loop = try EventLoop(name: "virtual", clock: clock)
        do {
            try await body(loop, clock)
        } catch {
            await loop.shutdown()
            throw error
        }
        await loop.shutdown()
    }

    @Test func `virtual time changes only by advance() and never decreases`() {
        let clock = VirtualClock()
        let start = clock.now
        #expect(clock.now == start && clock.elapsed == .zero)
        clock.advance(by: .seconds(3))
        clock.advance(by: .seconds(-1))
        clock.advance(to: start)
        #expect(clock.elapsed == .seconds(3))
    }

    @Test func `virtual timers fire in the order of their deadlines, and never before the deadline`() async throws {
        try await Self.withLoop { loop, clock in
            let log = Log()
            loop.execute {
                for seconds in [3, 1, 2] { loop.schedule(at: loop.now + .seconds(seconds)) { log.add("\(seconds)") } }
            }
            let next = await clock.settle(loop)
            #expect(next == clock.now + .seconds(1))
            clock.advance(by: .milliseconds(999))
            await clock.settle(loop)
            #expect(log.all == [])
            clock.advance(by: .milliseconds(1_001))
            await clock.settle(loop)
            #expect(log.all == ["1", "2"])
        }
    }

    @Test func `run() stops at each timer, so that chained timers fire at their exact times`() async throws {
        try await Self.withLoop { loop, clock in
            let log = Log()
            @Sendable func again(_ delay: Int) {
                loop.schedule(at: loop.now + .seconds(delay)) {
                    log.add("\(clock.elapsed)")
                    again(delay * 2)
                }
            }
            loop.execute { again(1) }
            await clock.run(for: .seconds(20), on: loop)
            #expect(log.all == ["1.0 seconds", "3.0 seconds", "7.0 seconds", "15.0 seconds"])
            #expect(clock.elapsed == .seconds(20))
        }
    }

    @Test func `advanceToNextTimer() skips cancelled timers and returns nil if no timer exists`() async throws {
        try await Self.withLoop { loop, clock in
            let log = Log()
            loop.execute {
                let token = loop.schedule(at: loop.now + .seconds(1)) { log.add("cancelled") }
                loop.schedule(at: loop.now + .seconds(5)) { log.add("five") }
                loop.cancel(token)
            }
            #expect(await clock.advanceToNextTimer(of: loop) == .seconds(5))
            #expect(log.all == ["five"])
            #expect(await clock.advanceToNextTimer(of: loop) == nil)
            #expect(clock.elapsed == .seconds(5))
        }
    }

    @Test func `settle() waits until the event loop has run all tasks, including newly added tasks`() async throws {
        try await Self.withLoop { loop, clock in
            let log = Log()
            @Sendable func chain(_ count: Int) {
                if count == 0 { return log.add("done") }
                loop.execute { chain(count - 1) }
            }
            chain(1_000)
            #expect(await clock.settle(loop) == nil)
            #expect(log.all == ["done"])
        }
    }

    @Test func `settle() waits for two event loops that share one virtual clock`() async throws {
        try await Self.withLoop { loop, clock in
            let other = try EventLoop(name: "other", clock: clock)
            let log = Log()
            @Sendable func pass(_ count: Int, from here: EventLoop, to there: EventLoop) {
                if count == 0 { return log.add("done") }
                there.execute { pass(count - 1, from: there, to: here) }
            }
            loop.execute {
                loop.schedule(at: loop.now + .seconds(2)) { pass(7, from: loop, to: other) }
            }
            #expect(await clock.advanceToNextTimer(of: loop, other) == .seconds(2))
            #expect(log.all == ["done"])
            await other.shutdown()
        }
    }

    @Test func `settle() returns if the event loop is shut down before or during the call`() async throws {
        let clock = VirtualClock()
        let loop = try EventLoop(name: "ends", clock: clock)
        loop.execute { loop.schedule(at: loop.now + .seconds(1)) {} }
        async let settled = clock.settle(loop)
        await loop.shutdown()
        _ = await settled
        #expect(await clock.settle(loop) == nil)
    }
}
