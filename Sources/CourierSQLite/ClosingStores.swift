import Dispatch
import Synchronization

/// Stores of this process that nobody holds any more and that are still writing: who opens the same file waits for
/// them instead of being told that it is in use.
enum ClosingStores {
    /// How long somebody waits at most.
    static let patience = DispatchTimeInterval.seconds(30)

    /// Those of one path.
    private struct Closing {
        let group = DispatchGroup()
        var count = 0
    }

    private static let stores = Mutex<[String: Closing]>([:])

    /// A store at this path begins to close; `end(_:)` has to follow for each.
    static func begin(_ path: String) {
        stores.withLock { stores in
            var closing = stores[path] ?? Closing()
            closing.count += 1
            closing.group.enter()
            stores[path] = closing
        }
    }

    static func end(_ path: String) {
        stores.withLock { stores in
            guard var closing = stores[path] else { return }
            closing.count -= 1
            stores[path] = closing.count > 0 ? closing : nil
            closing.group.leave()
        }
    }

    /// Waits until nobody closes a store at this path.
    ///
    /// - Returns: Whether nobody does any more.
    @discardableResult
    static func wait(for path: String, atMost limit: DispatchTimeInterval = patience) -> Bool {
        guard let group = stores.withLock({ $0[path]?.group }) else { return true }
        return group.wait(timeout: .now() + limit) == .success
    }
}
