package import Dispatch
import Glibc

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
    ///   - received: Receives the number of each signal.
    package init(_ signals: [Int32], on queue: DispatchQueue, received: @escaping @Sendable (Int32) -> Void) {
        sources = signals.map { number in
            // The signal is ignored, because its default action would end the process. The signal source still receives
            // an ignored signal.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { received(number) }
            source.resume()
            return source
        }
    }

    deinit { for source in sources { source.cancel() } }

    /// Makes a write to a pipe without a reader fail with an error instead of ending the process.
    package static func ignoreClosedPipes() { signal(SIGPIPE, SIG_IGN) }
}
