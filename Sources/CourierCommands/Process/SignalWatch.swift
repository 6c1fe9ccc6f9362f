package import Dispatch

/// Calls a closure on a queue for each signal, while the object exists.
///
/// Safe to share: the sources are created in the initializer and used again only in the deinitializer.
package final class SignalWatch: @unchecked Sendable {
    private let sources: [any DispatchSourceSignal]

    /// Watches signals that would otherwise end the process.
    ///
    /// - Parameters:
    ///   - signals: The signals.
    ///   - queue: The queue of the calls.
    ///   - registered: Receives the number of each signal once, when the watch begins. Earlier signals are lost.
    ///   - received: Receives the number of each signal.
    package init(
        _ signals: [Int32], on queue: DispatchQueue, registered: @escaping @Sendable (Int32) -> Void = { _ in },
        received: @escaping @Sendable (Int32) -> Void
    ) {
        sources = signals.map { number in
            // The signal is ignored, because its default action would end the process. The signal source still receives
            // an ignored signal.
            SystemSignal.ignore(number)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setRegistrationHandler { registered(number) }
            source.setEventHandler { received(number) }
            source.resume()
            return source
        }
    }

    deinit { for source in sources { source.cancel() } }

    /// Makes a write to a pipe without a reader fail with an error instead of ending the process.
    package static func ignoreClosedPipes() { SystemSignal.ignore(SystemSignal.brokenPipe) }
}
