import Foundation
import Synchronization

// Planted errors for Scripts/sanitize: four threads that count with or without a lock, and a read of freed memory. The
// sanitizers must report the count without a lock and the read, and must not report the count with a lock.

/// A counter for the planted race: `carefully` counts under `lock`, `hastily` counts without it.
final class Counter: Sendable {
    private let lock = Mutex(())
    // Safe under `lock`. The sanitizer must find the race in `hastily`.
    nonisolated(unsafe) private let count: UnsafeMutablePointer<Int>

    init() {
        count = .allocate(capacity: 1)
        count.initialize(to: 0)
    }

    deinit { count.deallocate() }

    /// The loop is long enough for the threads to wait for each other at the lock.
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
