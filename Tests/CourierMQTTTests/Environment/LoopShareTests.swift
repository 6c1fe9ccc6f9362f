import CourierTransport
import Synchronization
import Testing

@testable import CourierMQTT

@Suite struct LoopShareTests {
    private final class Part: Sendable {
        let loop: EventLoop
        let share: LoopShare<Part>

        init(_ loop: EventLoop, _ share: LoopShare<Part>) {
            self.loop = loop
            self.share = share
        }

        deinit { share.ended(on: loop) }
    }

    @Test func `clients on one event loop share one object until its release, and the next client gets a new object`()
        async throws
    {
        let (first, second) = (try EventLoop(), try EventLoop())
        let share = LoopShare<Part>()
        let madeCount = Mutex(0)
        func part(of loop: EventLoop) -> Part {
            share.part(of: loop) {
                madeCount.withLock { $0 += 1 }
                return Part(loop, share)
            }
        }
        var held: Part? = part(of: first)
        #expect(part(of: first) === held)
        #expect(part(of: second) !== held)
        #expect(madeCount.withLock { $0 } == 2)
        held = nil
        held = part(of: first)
        #expect(held?.loop === first)
        #expect(madeCount.withLock { $0 } == 3)
        await first.shutdown()
        await second.shutdown()
    }

    @Test func `many threads get the same shared object for the same event loop`() async throws {
        let loops = [try EventLoop(), try EventLoop()]
        let share = LoopShare<Part>()
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for round in 0..<2_000 {
                        let loop = loops[(task + round) % loops.count]
                        let part = share.part(of: loop) { Part(loop, share) }
                        #expect(part.loop === loop)
                        #expect(share.part(of: loop) { Part(loop, share) } === part)
                    }
                }
            }
        }
        for loop in loops { await loop.shutdown() }
    }

    @Test func `clients on one event loop share one suspend watch`() async throws {
        let loop = try EventLoop()
        var watch: SuspendWatch? = SuspendWatch.shared(on: loop)
        weak let kept = watch
        #expect(SuspendWatch.shared(on: loop) === watch)
        watch = nil
        #expect(kept == nil)
        await loop.shutdown()
    }
}
