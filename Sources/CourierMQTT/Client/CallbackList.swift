import Synchronization

/// A list of closures that wait for the same event. Each closure is called once, unless its owner removes it before the
/// event.
struct CallbackList<Value: Sendable>: ~Copyable, Sendable {
    typealias Callback = @Sendable (Value) -> Void

    /// Identifies a closure, so that it can be removed.
    typealias Key = UInt64

    // The type is not private, because the Swift 6.3 compiler fails on a private type here in unoptimized builds.
    struct State {
        var callbacks: [(key: Key?, callback: Callback)] = []
    }

    private let state = Mutex(State())

    init() {}

    /// Adds a closure. Only a closure with a key can be removed.
    borrowing func add(_ callback: @escaping Callback, under key: Key? = nil) {
        state.withLock { state in state.callbacks.append((key, callback)) }
    }

    borrowing func remove(_ key: Key) { state.withLock { state in state.callbacks.removeAll { $0.key == key } } }

    /// Removes all closures, and calls them in the order in which they were added. The lock is not held during the
    /// calls.
    borrowing func callAll(_ value: Value) {
        let callbacks = state.withLock { state in
            defer { state.callbacks = [] }
            return state.callbacks
        }
        for (_, callback) in callbacks { callback(value) }
    }
}
