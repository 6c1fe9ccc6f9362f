/// Something that runs on an ``EventLoop`` again and again and is handed over without an allocation.
///
/// A connection's outbox is one: it enqueues itself on the edge from empty to filled, see ``EventLoop/enqueue(_:)-(LoopWork)``.
public protocol LoopWork: AnyObject, Sendable {
    /// Called on the loop, once per enqueuing.
    func runOnLoop()
}
