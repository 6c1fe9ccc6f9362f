/// Stores a value that is not `Sendable`, and lends it to the one place that uses it.
///
/// Apps pass closures, event handlers and auth providers that have mutable state or belong to the main actor. They are
/// safe, because Courier calls each from one documented place, one call at a time. That place is the queue of the
/// nearest `receive(on:)`, the client's delivery queue, or one serial mailbox. No other type carries a value that is
/// not `Sendable` there, and this is the only use of `nonisolated(unsafe)` in this module.
@usableFromInline
package final class NonSendableBox<Value>: Sendable {
    // Safe: `value` is a `let`, which is set before other threads can see the box. The box lends it only inside
    // `use(_:)`. Each owner of a box calls `use(_:)` only from the place that its documentation names, where a lock or
    // queue makes the calls serial. The compiler cannot check that. The last release of the value may happen on another
    // thread, as for any value that an escaping Dispatch closure captures.
    @usableFromInline nonisolated(unsafe) let value: Value

    /// Makes a box with a value. The caller then uses its own reference to the value only from the documented place.
    @inlinable
    package init(_ value: Value) { self.value = value }

    /// Calls `body` with the value. Call it from the documented place only.
    @inlinable
    package func use<Result>(_ body: (Value) throws -> Result) rethrows -> Result { try body(value) }
}
