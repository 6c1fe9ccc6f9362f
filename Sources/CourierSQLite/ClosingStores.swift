import Dispatch
import Synchronization

/// Stores of this process that nobody holds any more and that are still writing: who opens the same file waits for
/// them instead of being told that it is in use.
enum ClosingStores {
    /// How long somebody waits at most.
    private static let patience = DispatchTimeInterval.seconds(30)

    private static let groups = Mutex<[String: DispatchGroup]>([:])

    /// The store at this path begins to close; `end(_:)` has to follow.
    static func begin(_ path: String) {
        let group = DispatchGroup()
        group.enter()
        groups.withLock { $0[path] = group }
    }

    static func end(_ path: String) { groups.withLock { $0.removeValue(forKey: path) }?.leave() }

    /// Waits until nobody closes a store at this path.
    static func wait(for path: String) { _ = groups.withLock { $0[path] }?.wait(timeout: .now() + patience) }
}
