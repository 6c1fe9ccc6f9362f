/// An actor that returns this loop as its executor lives on the loop's thread: inside it, channels and timers can be used
/// without a hop, and the compiler checks that nothing else touches its state.
///
/// ```swift
/// actor Connection {
///     private let loop: EventLoop
///     nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
/// }
/// ```
///
/// A callback of a ``ChannelHandler``, which runs on the loop outside of any task, enters the actor by
/// `assumeIsolated`.
extension EventLoop: SerialExecutor, TaskExecutor {
    /// Hands over a job of the Swift runtime.
    public func enqueue(_ job: consuming ExecutorJob) { enqueue(.swift(UnownedJob(job))) }

    /// This loop as the executor of an actor.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    /// Traps unless the caller runs on this loop; asked by `assumeIsolated`.
    public func checkIsolated() { preconditionOnLoop() }

    /// Whether the caller runs on this loop.
    public func isIsolatingCurrentContext() -> Bool? { isOnLoop }

    func runSwift(_ job: UnownedJob) {
        job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    }
}
