import Synchronization

/// A value that clients which are configured alike have in common.
final class Shared<Value: Equatable & Sendable>: Sendable {
    /// Remembers the last shared value while it is referenced.
    final class Memory: Sendable {
        private struct State {
            weak var last: Shared?
        }

        private let state = Mutex(State())

        init() {}

        /// `value`, without another copy of it if it was also the last one.
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
