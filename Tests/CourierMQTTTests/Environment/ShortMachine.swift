import CourierTransport
import Glibc
import Synchronization
import Testing

/// Simulates a machine that has no free descriptor for the first watch.
final class ShortMachine: Sendable {
    private let tries = Atomic(0)

    /// Fails the first time. Later, returns the descriptor of `make`.
    func descriptor(_ make: () -> Int32) -> Int32 {
        tries.add(1, ordering: .relaxed).oldValue == 0 ? -EMFILE : make()
    }

    /// Checks that the clients of a loop share one watch, and that the watch starts at the second try. A third try
    /// does not happen.
    ///
    /// - Parameters:
    ///   - watch: Makes the watch, or returns the shared watch.
    ///   - checkFirst: Checks the watch that could not start.
    /// - Throws: An error if no loop can be created.
    static func expectSecondTry<Watch: AnyObject & Sendable>(
        of watch: (EventLoop, ShortMachine) -> Watch, checkFirst: (Watch) -> Void = { _ in }
    ) async throws {
        let loop = try EventLoop()
        let machine = ShortMachine()
        var found: [Watch] = []
        for tryCount in [1, 2, 2] {
            found.append(watch(loop, machine))
            await withCheckedContinuation { continuation in loop.execute { continuation.resume() } }
            #expect(machine.tries.load(ordering: .relaxed) == tryCount)
            if found.count == 1 { checkFirst(found[0]) }
        }
        #expect(found.allSatisfy { $0 === found[0] })
        await loop.shutdown()
    }
}
