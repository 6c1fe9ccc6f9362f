import Dispatch
import Glibc
import Testing

@testable import CourierCommands

/// Signals that a command handles.
@Suite(.timeLimit(.minutes(2))) struct SignalWatchTests {
    @Test func `a signal that arrives right after its SignalWatch is created is received, even on a busy queue`() async
    {
        let queue = DispatchQueue(label: "busy")
        for _ in 0..<100 {
            let (numbers, received) = AsyncStream.makeStream(of: Int32.self)
            let watch = queue.sync {
                let watch = SignalWatch([SIGUSR2], on: queue) { received.yield($0) }
                kill(getpid(), SIGUSR2)
                return watch
            }
            let number = await numbers.first { _ in true }
            #expect(number == SIGUSR2)
            withExtendedLifetime(watch) {}
        }
    }
}
