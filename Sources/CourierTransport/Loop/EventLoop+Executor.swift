/// Lets actors and tasks run on the loop's thread.
///
/// An actor that returns this loop as its executor uses the loop's channels and timers without switching threads. The
/// compiler checks that no other code touches the actor's state.
///
/// ```swift
/// actor Connection {
///     private let loop: EventLoop
///     nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
/// }
/// ```
///
/// Callbacks of a ``ChannelHandler`` run on the loop outside of tasks. They enter the actor with `assumeIsolated`.
extension EventLoop: SerialExecutor, TaskExecutor {
    /// Adds a job of the Swift runtime to the loop's work.
    public func enqueue(_ job: consuming ExecutorJob) { enqueue(.swift(UnownedJob(job))) }

    /// Returns this loop as the executor of an actor.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    /// Traps unless the caller runs on this loop. `assumeIsolated` calls this function.
    public func checkIsolated() { preconditionOnLoop() }

    /// Returns `true` if the caller runs on this loop.
    public func isIsolatingCurrentContext() -> Bool? { isOnLoop }

    func runSwift(_ job: UnownedJob) {
        job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    }
}
