import Synchronization

/// Closures that wait for one thing, each called once or taken back before.
struct CallbackList<Value: Sendable>: ~Copyable, Sendable {
    typealias Callback = @Sendable (Value) -> Void

    /// Names a closure, to take it back.
    typealias Key = UInt64

    // Not private: the compiler of Swift 6.3 fails on that when it does not optimize.
    struct State {
        var callbacks: [(key: Key?, callback: Callback)] = []
    }

    private let state = Mutex(State())

    init() {}

    /// Adds a closure; only one with a key can be taken back.
    borrowing func add(_ callback: @escaping Callback, under key: Key? = nil) {
        state.withLock { state in state.callbacks.append((key, callback)) }
    }

    borrowing func remove(_ key: Key) { state.withLock { state in state.callbacks.removeAll { $0.key == key } } }

    /// Calls all of them, in order, without a lock held.
    borrowing func callAll(_ value: Value) {
        let callbacks = state.withLock { state in
            defer { state.callbacks = [] }
            return state.callbacks
        }
        for (_, callback) in callbacks { callback(value) }
    }
}
