import Synchronization

/// A value that clients with the same configuration share, to save memory.
final class Shared<Value: Equatable & Sendable>: Sendable {
    /// Remembers the last shared object, as long as a client references the object.
    final class Memory: Sendable {
        /// The reference to the last shared object.
        private struct State {
            weak var last: Shared?
        }

        private let state = Mutex(State())

        init() {}

        /// Returns a shared object with this value. If the remembered object has an equal value, returns the remembered
        /// object.
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
