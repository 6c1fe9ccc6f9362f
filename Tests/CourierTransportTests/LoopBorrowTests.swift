import Foundation
import Synchronization
import Testing

@testable import CourierTransport

/// A sleeping loop can be borrowed by a thread that has work for it.
@Suite struct LoopBorrowTests {
    /// A clock that only a test advances. An advance does not wake the loop.
    private final class SteppedClock: LoopClock {
        private let time = Mutex(ContinuousClock.now)

        var now: ContinuousClock.Instant { time.withLock { $0 } }
        func step(_ duration: Duration) { time.withLock { $0 += duration } }
        func sleepLimit(until deadline: ContinuousClock.Instant) -> Duration? { deadline <= now ? .zero : nil }
        func attach(wake: @escaping @Sendable () -> Void) {}
    }

    private let clock = SteppedClock()

    private func withSleepingLoop(_ body: (EventLoop) async throws -> Void) async throws {
        let loop = try EventLoop(clock: clock)
        do {
            try await asleep(loop)
            clock.step(EventLoop.quietTime)
            try await body(loop)
        } catch {
            await loop.shutdown()
            throw error
        }
        await loop.shutdown()
    }

    /// Waits until the loop's thread sleeps. The loop does not report that, so its flag is polled.
    private func asleep(_ loop: EventLoop) async throws {
        while !loop.isAsleep.load(ordering: .acquiring) {
            try Task.checkCancellation()
            await Task.yield()
        }
        loop.turn.withLock { _ in }  // The thread sets its flag before it releases the lock.
    }

    @Test func `borrow() runs its closure on the calling thread, and isOnLoop is true inside the closure`()
        async throws
    {
        try await withSleepingLoop { loop in
            let before = loop.wakeUpCount
            #expect(!loop.isOnLoop)
            let result = loop.borrow {
                loop.preconditionOnLoop()
                #expect(loop.now == clock.now)
                return true
            }
            #expect(result)
            #expect(!loop.isOnLoop)
            #expect(loop.wakeUpCount == before)
            #expect(await loop.run { loop.isOnLoop })
        }
    }

    @Test func `borrow() returns the result of the closure`() async throws {
        try await withSleepingLoop { loop in
            var runs = 0
            let result = loop.borrow {
                runs += 1
                return false
            }
            #expect(!result)
            #expect(runs == 1)
        }
    }

    @Test(arguments: 0..<50)
    func `borrow() runs the closure only after all work that was added earlier`(_ run: Int) async throws {
        try await withSleepingLoop { loop in
            let isDone = Mutex(false)
            loop.execute { isDone.withLock { $0 = true } }
            if loop.borrow({ true }) { #expect(isDone.withLock { $0 }, "run \(run)") }
        }
    }

    @Test func `borrow() runs the closure only if the loop had no work for a minimum time (quietTime)`() async throws {
        try await withSleepingLoop { loop in
            #expect(loop.borrow { true })
            #expect(!loop.borrow { true })
            clock.step(EventLoop.quietTime - .nanoseconds(1))
            #expect(!loop.borrow { true })
            clock.step(.nanoseconds(1))
            let isLent = loop.borrow {
                clock.step(EventLoop.quietTime)  // The duration of work does not count as quiet time.
                return true
            }
            #expect(isLent)
            #expect(!loop.borrow { true })
            await loop.run {}
            try await asleep(loop)
            clock.step(EventLoop.quietTime - .nanoseconds(1))
            #expect(!loop.borrow { true })
            clock.step(.nanoseconds(1))
            #expect(loop.borrow { true })
        }
    }

    @Test func `borrow() does not run the closure if a timer of the loop is due`() async throws {
        try await withSleepingLoop { loop in
            let deadline = clock.now + .seconds(1)
            await loop.run { _ = loop.schedule(at: deadline) {} }
            try await asleep(loop)
            clock.step(.milliseconds(999))
            #expect(loop.borrow { true })
            clock.step(.milliseconds(1))
            #expect(!loop.borrow { true })
        }
    }

    @Test func `work that is added inside borrow() runs on the loop's own thread`() async throws {
        try await withSleepingLoop { loop in
            let done = Watched<Set<String>>([])
            let thread = await loop.run { LoopThread.current }
            @Sendable func note(_ name: String) {
                #expect(LoopThread.current == thread)
                done.update { $0.insert(name) }
            }
            let leavings: [(name: String, leave: @Sendable () -> Void)] = [
                ("work", { loop.execute { note("work") } }),
                ("later", { loop.runLater { note("later") } }),
                ("timer", { loop.schedule(at: loop.now) { note("timer") } }),
            ]
            for (name, leave) in leavings {
                try await asleep(loop)
                clock.step(EventLoop.quietTime)
                let isLent = loop.borrow {
                    leave()
                    return true
                }
                #expect(isLent)
                try await done.wait(name) { $0.contains(name) }
            }
        }
    }

    @Test func `a timer that is moved to a later time inside borrow() does not wake the loop`() async throws {
        try await withSleepingLoop { loop in
            let start = clock.now
            let timer = await loop.run { loop.schedule(at: start + .seconds(1)) {} }
            try await asleep(loop)
            clock.step(EventLoop.quietTime)
            let before = loop.wakeUpCount
            let isLent = loop.borrow {
                loop.cancel(timer)
                loop.schedule(at: start + .seconds(2)) {}
                return true
            }
            #expect(isLent)
            #expect(loop.wakeUpCount == before)
        }
    }

    @Test func `a nested borrow() of the same loop does not run the closure`() async throws {
        try await withSleepingLoop { loop in
            let isLent = loop.borrow {
                clock.step(EventLoop.quietTime)
                #expect(!loop.borrow { true })
                return true
            }
            #expect(isLent)
        }
    }

    @Test func `borrow() does not run the closure after shutdown()`() async throws {
        let loop = try EventLoop(clock: clock)
        try await asleep(loop)
        await loop.shutdown()
        clock.step(EventLoop.quietTime)
        #expect(!loop.borrow { true })
    }

    @Test func `the loop's own work and borrow() closures of four threads never run at the same time`() async throws {
        /// Deliberately without a lock. The test checks that the loop protects it: by the sum, and by
        /// `Scripts/sanitize thread`.
        final class Resident: @unchecked Sendable {
            var count = 0
        }
        let resident = Resident()
        let threads = 4
        let perThread = 2_000
        try await withLoop { loop in
            let ended = Watched(0)
            for _ in 0..<threads {
                Thread {
                    for number in 1...perThread {
                        guard number % 100 == 0 else {
                            loop.execute { resident.count += 1 }
                            continue
                        }
                        // In the end all threads only borrow, and the loop has no other work.
                        while !loop.borrow({
                            resident.count += 1
                            return true
                        }) {
                            sched_yield()
                        }
                    }
                    ended.update { $0 += 1 }
                }.start()
            }
            try await ended.wait("the threads") { $0 == threads }
            await loop.run { #expect(resident.count == threads * perThread) }
        }
    }
}
