/// Wakes a ``SuspendWatcher`` when the machine may have resumed from a suspend. Used on the loop only.
protocol ResumeAlarm: AnyObject {
    /// Starts to call `fired` on the loop: after a resume, and at the latest after each `interval`.
    ///
    /// - Throws: An error if the system has no resources for the alarm.
    func start(interval: Duration, _ fired: @escaping () -> Void) throws(TransportError)

    func stop()
}
