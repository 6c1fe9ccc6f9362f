/// An object that runs repeatedly on an ``EventLoop``. Adding it to the loop's work allocates no memory.
///
/// For example, a session's driver enqueues itself when new messages wait; see ``EventLoop/enqueue(_:)-(LoopWork)``.
public protocol LoopWork: AnyObject, Sendable {
    /// Called on the loop, once for each time that the object was added.
    func runOnLoop()
}
