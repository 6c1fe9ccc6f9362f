/// Carries a value that is not `Sendable` to the one place that uses it.
///
/// Apps hand over closures, event handlers and auth providers that are classes with a `var`, or that touch the main
/// actor. They stay usable because Courier calls each from one documented place, one call at a time: the queue of the
/// nearest `receive(on:)`, the client's delivery queue, or one serial mailbox. This is the only type that carries
/// such a value there, and the only use of `nonisolated(unsafe)` in this module.
@usableFromInline
package final class NonSendableBox<Value>: Sendable {
    // Safe: `value` is set once, before the box is published, and is a `let`. The box gives it out only inside
    // `use(_:)`, and every owner of a box calls that from its one delivering place, where calls are serial and
    // ordered by the lock or queue that serializes them. What the compiler cannot see is only that this place is one
    // place; the owner's documentation names it. The value's last release may happen on another thread, as it may for
    // anything that an escaping closure of Dispatch captures.
    @usableFromInline nonisolated(unsafe) let value: Value

    /// Puts a value into the box. The giver keeps using its own reference only from the documented place.
    @inlinable
    package init(_ value: Value) { self.value = value }

    /// Lends the value to `body`; call it from the delivering place only.
    @inlinable
    package func use<Result>(_ body: (Value) throws -> Result) rethrows -> Result { try body(value) }
}
