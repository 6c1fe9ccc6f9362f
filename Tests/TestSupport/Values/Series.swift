import Synchronization

/// Collects values from any thread, in the order of arrival.
package final class Series<Value: Sendable>: Sendable {
    private let state = Mutex<[Value]>([])

    package init() {}

    package var values: [Value] { state.withLock { $0 } }
    package func append(_ value: Value) { state.withLock { $0.append(value) } }
}
