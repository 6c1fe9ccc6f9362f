import Foundation
import Synchronization
import Testing

@testable import CourierTransport

#if os(Linux)
    import CLinux
#endif

@Suite struct EventLoopTests {
    @Test func `work runs on the loop in the order in which it was added`() async throws {
        try await withLoop { loop in
            let seen = Watched<[Int]>([])
            for number in 0..<1000 {
                loop.execute {
                    #expect(loop.isOnLoop)
                    seen.update { $0.append(number) }
                }
            }
            #expect(!loop.isOnLoop)
            let order = try await seen.wait("all work") { $0.count == 1000 }
            #expect(order == Array(0..<1000))
        }
    }

    @Test func `timers fire in the order of their deadlines, and a cancelled timer never fires`() async throws {
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        let fired = Watched<[String]>([])
        let start = clock.now
        let cancelled = await loop.run {
            loop.schedule(at: start + .seconds(2)) { fired.update { $0.append("c") } }
            loop.schedule(at: start + .seconds(1)) { fired.update { $0.append("a") } }
            loop.schedule(at: start + .seconds(1)) { fired.update { $0.append("b") } }
            return loop.schedule(at: start + .seconds(1)) { fired.update { $0.append("never") } }
        }
        await loop.run { loop.cancel(cancelled) }
        #expect(fired.value == [])
        clock.advance(by: .milliseconds(999))
        await loop.run {}
        #expect(fired.value == [])
        clock.advance(by: .milliseconds(1))
        try await fired.wait("the first second") { $0 == ["a", "b"] }
        clock.advance(by: .seconds(1))
        try await fired.wait("the next second") { $0 == ["a", "b", "c"] }
        await loop.shutdown()
    }

    /// Counts its runs on the loop, and schedules itself again until it has run `limit` times.
    private final class Repeated: LoopWork {
        let loop: EventLoop
        let count = Watched(0)
        let limit: Int

        init(_ loop: EventLoop, limit: Int) { (self.loop, self.limit) = (loop, limit) }

        func runOnLoop() {
            loop.preconditionOnLoop()
            count.update { $0 += 1 }
            if count.value < limit { loop.runSoon(self) }
        }
    }

    @Test(arguments: [true, false])
    func `work that is added by runSoon() runs once, and does not wake the loop`(isManual: Bool)
        async throws
    {
        let loop = try EventLoop(clock: isManual ? ManualClock() : RealLoopClock())
        let work = Repeated(loop, limit: 100)
        await loop.run {
            loop.runSoon(work)
            loop.runSoon(work)  // The work runs once, even after several calls.
            #expect(work.count.value == 0)
        }
        let before = loop.wakeUpCount
        try await work.count.wait("all rounds") { $0 == 100 }
        #expect(loop.wakeUpCount == before)
        await loop.shutdown()
        #expect(work.count.value == 100)
    }

    @Test func `work added by runSoon() runs even if other work schedules itself again and again`() async throws {
        try await withLoop { loop in
            let work = Repeated(loop, limit: 50)
            let end = Watched(false)
            @Sendable func goOn() { if work.count.value < 50 { loop.execute(goOn) } else { end.update { $0 = true } } }
            loop.execute {
                loop.runSoon(work)
                goOn()
            }
            try await end.wait("the end") { $0 }
        }
    }

    @Test func `a timer of the real clock does not fire before its deadline`() async throws {
        try await withLoop { loop in
            let fired = Watched<ContinuousClock.Instant?>(nil)
            let deadline = ContinuousClock.now + .milliseconds(30)
            loop.execute { loop.schedule(at: deadline) { fired.update { $0 = ContinuousClock.now } } }
            let moment = try #require(try await fired.wait("the timer") { $0 != nil })
            #expect(moment >= deadline)
        }
    }

    @Test func `a timer that always schedules itself again for the current time does not block other work`()
        async throws
    {
        try await withLoop { loop in
            let stop = Atomic<Bool>(false)
            let done = Watched(false)
            loop.execute {
                @Sendable func again() {
                    if !stop.load(ordering: .relaxed) { loop.schedule(at: loop.now, again) }
                }
                again()
            }
            loop.execute { loop.execute { done.update { $0 = true } } }
            try await done.wait("the work behind") { $0 }
            stop.store(true, ordering: .relaxed)
        }
    }

    @Test(arguments: 0..<20)
    func `if six threads add work at the same time, the loop runs all of it`(_ run: Int) async throws {
        try await withLoop { loop in
            let count = Watched(0)
            let threads = 6
            let perThread = 400
            for thread in 0..<threads {
                Thread {
                    for number in 0..<perThread {
                        loop.execute { count.update { $0 += 1 } }
                        // Lets the loop fall asleep in between, at varying moments.
                        if (number &+ thread) % 7 == 0 { sched_yield() }
                    }
                }.start()
            }
            try await count.wait("all work of run \(run)") { $0 == threads * perThread }
        }
    }

    @Test func `adding work to a loop that is awake does not wake the loop again`() async throws {
        try await withLoop { loop in
            await loop.run {}
            let before = loop.wakeUpCount
            await loop.run {
                for _ in 0..<1000 { loop.execute {} }
            }
            #expect(loop.wakeUpCount - before <= 1)
        }
    }

    @Test func `shutdown() runs all work that was added earlier, and a second call of shutdown() has no effect`()
        async throws
    {
        let loop = try EventLoop()
        let count = Watched(0)
        for _ in 0..<100 { loop.execute { loop.execute { count.update { $0 += 1 } } } }
        await loop.shutdown()
        #expect(count.value == 100)
        await loop.shutdown()
    }

    @Test func `work added after shutdown() runs at once on the calling thread`() async throws {
        let loop = try EventLoop()
        await loop.shutdown()
        let order = Mutex<[Int]>([])
        loop.execute {
            #expect(loop.isOnLoop)
            loop.execute { order.withLock { $0.append(2) } }
            order.withLock { $0.append(1) }
        }
        #expect(order.withLock { $0 } == [1, 2])
        #expect(!loop.isOnLoop)
        #expect(await Counter(loop).add() == 1)
    }

    actor Counter {
        private let loop: EventLoop
        private var count = 0
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
        init(_ loop: EventLoop) { self.loop = loop }

        func add() -> Int {
            loop.preconditionOnLoop()
            count += 1
            return count
        }

        nonisolated func addFromLoop() -> Int { assumeIsolated { $0.add() } }
    }

    @Test func `an actor can use an event loop as its executor`() async throws {
        try await withLoop { loop in
            let counter = Counter(loop)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<100 { group.addTask { _ = await counter.add() } }
            }
            #expect(await counter.add() == 101)
            #expect(await loop.run { counter.addFromLoop() } == 102)
        }
    }

    @Test func `a task with an event loop as its preferred executor runs on that loop`() async throws {
        try await withLoop { loop in
            let isOn = await Task(executorPreference: loop) { loop.isOnLoop }.value
            #expect(isOn)
        }
    }

    @Test func `next() of EventLoopGroup returns all loops in order, then the first loop again`() async throws {
        let group = try EventLoopGroup(count: 3)
        let names = (0..<6).map { _ in group.next().name }
        #expect(names == ["courier-loop-0", "courier-loop-1", "courier-loop-2"] + names[..<3])
        await group.shutdown()
    }

    #if os(Linux)
        @Test(arguments: [(LoopPriority.normal, 0), (.utility, 5), (.background, 15)] as [(LoopPriority, Int32)])
        func `the priority of an event loop or a group sets the niceness of each loop's thread`(
            _ priority: LoopPriority, _ niceness: Int32
        ) async throws {
            let before = courier_thread_niceness()
            let single = try EventLoop(priority: priority)
            let group = try EventLoopGroup(count: 2, priority: priority)
            for loop in [single] + group.loops {
                let actual = await withCheckedContinuation { continuation in
                    loop.execute { continuation.resume(returning: courier_thread_niceness()) }
                }
                #expect(actual == max(niceness, before))
            }
            await single.shutdown()
            await group.shutdown()
        }
    #endif

    @Test func `the read buffer of a loop has the configured size`() async throws {
        let loop = try EventLoop(readBufferSize: 4 << 10)
        #expect(loop.readBuffer.count == 4 << 10)
        await loop.shutdown()
    }

    @Test(arguments: [
        (Int.min, 4_096), (-1, 4_096), (0, 4_096), (4_095, 4_096), (4_097, 4_097), (67_108_864, 67_108_864),
        (67_108_865, 67_108_864), (Int.max, 67_108_864),
    ])
    func `EventLoopGroup limits readBufferSize to the valid range`(
        _ asked: Int, _ actual: Int
    ) async throws {
        let group = try EventLoopGroup(readBufferSize: asked)
        #expect(group.loops.map(\.readBuffer.count) == [actual])
        await group.shutdown()
    }
}
