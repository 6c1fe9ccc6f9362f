/// Reports to a ``NetworkWatcher`` that the machine's networks may have changed, and checks the networks. Used on the
/// loop only.
protocol NetworkSource: AnyObject {
    /// Starts to report changes.
    ///
    /// - Parameters:
    ///   - changed: Called on the loop after each change. It may also be called without a change.
    ///   - failed: Called on the loop, at most once, if changes can no longer be detected. The parameter is the error
    ///     number, if there is one.
    /// - Throws: An error if changes cannot be detected.
    func start(
        changed: @escaping () -> Void, failed: @escaping (_ number: Int32?) -> Void
    ) throws(TransportError)

    /// Checks the networks once. `ended` receives the result, unless the source is stopped before. `ended` may be called
    /// before this function returns.
    func look(_ ended: @escaping (NetworkWatchState.Finding) -> Void)

    /// Stops the reports and a check in progress.
    func stop()
}
