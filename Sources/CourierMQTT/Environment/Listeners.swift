import Synchronization

/// A list of closures that are called with each new value. Each closure belongs to an object, its owner.
final class Listeners<Value: Sendable>: Sendable {
    private let calls = Mutex<[ObjectIdentifier: @Sendable (Value) -> Void]>([:])

    init() {}

    /// Calls `call` with each value from now on, until `owner` is removed.
    func add(_ owner: AnyObject, _ call: @escaping @Sendable (Value) -> Void) {
        calls.withLock { $0[ObjectIdentifier(owner)] = call }
    }

    /// Removes the closure of `owner`. A call that has begun may still be running.
    func remove(_ owner: AnyObject) { calls.withLock { $0[ObjectIdentifier(owner)] = nil } }

    /// Calls all closures with a value, without holding the lock.
    func tell(_ value: Value) {
        for call in calls.withLock({ Array($0.values) }) { call(value) }
    }
}
