import Foundation
import Synchronization

// What Scripts/sanitize must and must not find: four threads that count together, and memory used after its end.

/// Safe under `lock` only, which is the point: `hastily` goes without.
final class Counter: Sendable {
    private let lock = Mutex(())
    // Safe under `lock`; the race of `hastily` is what the sanitizer has to find.
    nonisolated(unsafe) private let count: UnsafeMutablePointer<Int>

    init() {
        count = .allocate(capacity: 1)
        count.initialize(to: 0)
    }

    deinit { count.deallocate() }

    /// Long enough for the threads to meet at the lock.
    func carefully() { lock.withLock { _ in for _ in 0..<50 { count.pointee += 1 } } }
    func hastily() { count.pointee += 1 }
}

@main
enum Canary {
    static func main() {
        switch CommandLine.arguments.dropFirst().first {
        case "lock": count { $0.carefully() }
        case "race": count { $0.hastily() }
        case "freed": useFreed()
        default: exit(2)
        }
    }

    private static func count(_ step: @escaping @Sendable (Counter) -> Void) {
        let counter = Counter()
        let done = DispatchSemaphore(value: 0)
        for _ in 0..<4 {
            Thread {
                for _ in 0..<20_000 { step(counter) }
                done.signal()
            }.start()
        }
        for _ in 0..<4 { done.wait() }
    }

    private static func useFreed() {
        let memory = UnsafeMutablePointer<Int>.allocate(capacity: 4)
        memory.initialize(repeating: CommandLine.arguments.count, count: 4)
        memory.deallocate()
        print(memory[1])
    }
}
