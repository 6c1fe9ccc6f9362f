/// Stores a value that is not `Sendable`, and makes the value available only to the one queue, lock or mailbox that
/// uses it.
///
/// Apps pass closures, event handlers and auth providers that have mutable state or belong to the main actor. Such a
/// value is safe, because Courier calls it from one documented place only, one call at a time. The documented place is
/// the queue of the nearest `receive(on:)`, the client's delivery queue, or one serial mailbox. In this module, only
/// this type passes such values to another thread, and only this type uses `nonisolated(unsafe)`.
@usableFromInline
package final class NonSendableBox<Value>: Sendable {
    // Safe: `value` is a `let`, which is set before other threads can see the box. Only `use(_:)` gives access to it.
    // Each owner of a box calls `use(_:)` only under one lock or on one queue, which the owner's documentation names.
    // The compiler cannot check this rule. Another thread may release the value, as with a value that a Dispatch
    // closure captures.
    @usableFromInline nonisolated(unsafe) let value: Value

    /// Makes a box with a value. Afterwards, the caller uses the value only on the queue or under the lock that the
    /// box's owner documents.
    @inlinable
    package init(_ value: Value) { self.value = value }

    /// Calls `body` with the value. Call this method only on the queue or under the lock that the box's owner
    /// documents, one call at a time.
    @inlinable
    package func use<Result>(_ body: (Value) throws -> Result) rethrows -> Result { try body(value) }
}
