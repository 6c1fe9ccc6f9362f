import Synchronization

/// Closures of those who want to know of something, each under the object that it belongs to.
final class Listeners<Value: Sendable>: Sendable {
    private let calls = Mutex<[ObjectIdentifier: @Sendable (Value) -> Void]>([:])

    init() {}

    /// Calls `call` with each value from now on, until `owner` is removed.
    func add(_ owner: AnyObject, _ call: @escaping @Sendable (Value) -> Void) {
        calls.withLock { $0[ObjectIdentifier(owner)] = call }
    }

    /// Calls nothing for `owner` any more, but for a call that is under way.
    func remove(_ owner: AnyObject) { calls.withLock { $0[ObjectIdentifier(owner)] = nil } }

    /// Without a lock held.
    func tell(_ value: Value) {
        for call in calls.withLock({ Array($0.values) }) { call(value) }
    }
}
