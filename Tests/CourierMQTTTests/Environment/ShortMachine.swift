import CourierTransport
import Glibc
import Synchronization
import Testing

/// A machine that has no descriptor left for the first of those who want to watch it.
final class ShortMachine: Sendable {
    private let tries = Atomic(0)

    /// A descriptor as `make` gives it, but for the first.
    func descriptor(_ make: () -> Int32) -> Int32 {
        tries.add(1, ordering: .relaxed).oldValue == 0 ? -EMFILE : make()
    }

    /// Clients of one loop share what `watch` gives: it watches at the second try, and is not asked to a third time.
    ///
    /// - Parameters:
    ///   - watch: Makes or finds what they share.
    ///   - checkFirst: Looks at it when it could not watch.
    /// - Throws: When there is no loop.
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
