import Dispatch
import Synchronization

/// The stores that the app has released and that are still writing. If a caller opens the file of such a store, the
/// call waits until the store is closed, instead of failing with `storeInUse`.
enum ClosingStores {
    /// The longest time to wait for a closing store.
    static let patience = DispatchTimeInterval.seconds(30)

    /// The closing stores of one path.
    private struct Closing {
        let group = DispatchGroup()
        var count = 0
    }

    private static let stores = Mutex<[String: Closing]>([:])

    /// Records that a store at this path begins to close. Each call must be followed by a call of `end(_:)`.
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

    /// Waits until no store at this path is closing.
    ///
    /// - Returns: `false` if a store is still closing after the longest wait.
    @discardableResult
    static func wait(for path: String, atMost limit: DispatchTimeInterval = patience) -> Bool {
        guard let group = stores.withLock({ $0[path]?.group }) else { return true }
        return group.wait(timeout: .now() + limit) == .success
    }
}
