import Synchronization

/// A value that clients with the same configuration share, to save memory.
final class Shared<Value: Equatable & Sendable>: Sendable {
    /// Remembers the shared object that was made last, as long as that object is referenced elsewhere.
    final class Memory: Sendable {
        private struct State {
            weak var last: Shared?
        }

        private let state = Mutex(State())

        init() {}

        /// Returns a shared object with this value. If the remembered object has an equal value, that object is
        /// returned.
        func share(_ value: Value) -> Shared {
            state.withLock { state in
                if let last = state.last, last.value == value { return last }
                let made = Shared(value)
                state.last = made
                return made
            }
        }
    }

    let value: Value

    fileprivate init(_ value: Value) { self.value = value }
}
