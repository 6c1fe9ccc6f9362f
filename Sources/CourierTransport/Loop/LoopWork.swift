/// An object that runs repeatedly on an ``EventLoop`` and is handed over without an allocation.
///
/// For example, a session's driver enqueues itself when new messages wait; see ``EventLoop/enqueue(_:)-(LoopWork)``.
public protocol LoopWork: AnyObject, Sendable {
    /// Called on the loop, once each time the object was handed over.
    func runOnLoop()
}
