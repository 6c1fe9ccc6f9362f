import Dispatch
import Foundation
import Testing

@testable import CourierTransport

/// Work that is added to a loop during or after its end.
@Suite(.timeLimit(.minutes(5))) struct EventLoopEndTests {
    /// Runs a closure when it is deallocated.
    private final class LastWish {
        private let wish: @Sendable () -> Void

        init(_ wish: @escaping @Sendable () -> Void) { self.wish = wish }

        deinit { wish() }
    }

    @Test func `isOnLoop is true for work that another thread adds during shutdown()`() async throws {
        let loop = try EventLoop()
        let loopThread = await loop.run { LoopThread.current }
        let (hasCome, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let wasOnLoop = Watched<Bool?>(nil)
        await loop.run {
            let probe = LastWish {
                Thread {
                    loop.execute {
                        // Work on another thread than the loop's thread may last longer than the loop.
                        if LoopThread.current != loopThread {
                            hasCome.signal()
                            isOver.wait()
                        }
                        let isOnLoop = loop.isOnLoop
                        wasOnLoop.update { $0 = isOnLoop }
                    }
                    hasCome.signal()
                }.start()
                hasCome.wait()
            }
            loop.schedule(at: loop.now + .seconds(3_600)) { withExtendedLifetime(probe) {} }
        }
        await loop.shutdown()
        isOver.signal()
        let answer = try await wasOnLoop.wait("the work") { $0 != nil }
        #expect(answer == true)
    }

    @Test func `work that is added when shutdown() releases a pending timer runs before shutdown() returns`()
        async throws
    {
        let loop = try EventLoop()
        let wasOnLoop = Watched<[Bool]>([])
        await loop.run {
            let probe = LastWish {
                loop.execute {
                    loop.schedule(at: loop.now + .seconds(3_600)) {}
                    let isOnLoop = loop.isOnLoop
                    wasOnLoop.update { $0.append(isOnLoop) }
                }
            }
            loop.schedule(at: loop.now + .seconds(3_600)) { withExtendedLifetime(probe) {} }
        }
        await loop.shutdown()
        #expect(wasOnLoop.value == [true])
        #expect(!loop.isOnLoop)
    }

    @Test func `a channel that is created on a loop after shutdown() closes at once with loopShutDown`()
        async throws
    {
        let loop = try EventLoop()
        await loop.shutdown()
        let (near, far) = MemoryStream.pair()
        let recorder = Recorder()
        ByteChannel.connect(to: .stream(near), on: loop, handler: recorder)
        let closed = recorder.log.value.closed
        #expect(closed == [.failed(TransportError(.loopShutDown, "the event loop was shut down: memory stream A"))])
        withExtendedLifetime(far) {}
    }
}
