package import Dispatch

/// Calls a closure on a queue for each signal, while the object exists.
///
/// Safe to share: the sources are created in the initializer and used again only in the deinitializer.
package final class SignalWatch: @unchecked Sendable {
    private let sources: [any DispatchSourceSignal]

    /// Watches signals that would otherwise end the process. When the initializer returns, the watch has begun. An
    /// earlier signal still has its default effect, which ends the process.
    ///
    /// - Parameters:
    ///   - signals: The signals.
    ///   - queue: The queue of the calls.
    ///   - received: Receives the number of each signal.
    package init(_ signals: [Int32], on queue: DispatchQueue, received: @escaping @Sendable (Int32) -> Void) {
        // The sources do not use `queue`, because the caller may block it until the sources are registered.
        let own = DispatchQueue(label: "courier.signals")
        let registration = DispatchGroup()
        sources = signals.map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: own)
            registration.enter()
            source.setRegistrationHandler { registration.leave() }
            source.setEventHandler { queue.async { received(number) } }
            source.resume()
            return source
        }
        registration.wait()
        for number in signals { SystemSignal.suppressDefaultEffect(of: number) }
    }

    deinit { for source in sources { source.cancel() } }

    /// If the reader of a pipe has closed it, a write to the pipe then fails with an error instead of ending the
    /// process.
    package static func ignoreClosedPipes() { SystemSignal.ignore(SystemSignal.brokenPipe) }
}
