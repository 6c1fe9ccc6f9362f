package import Dispatch
import Glibc

/// Turns signals into calls on a queue, for as long as it lives.
///
/// Safe to share: the sources are made at once and touched again only when the object goes.
package final class SignalWatch: @unchecked Sendable {
    private let sources: [any DispatchSourceSignal]

    /// Watches signals that would otherwise end the process.
    ///
    /// - Parameters:
    ///   - signals: The signals.
    ///   - queue: Where the calls are made.
    ///   - received: Gets the number of each signal.
    package init(_ signals: [Int32], on queue: DispatchQueue, received: @escaping @Sendable (Int32) -> Void) {
        sources = signals.map { number in
            // The source sees it anyway; without this the process would end first.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { received(number) }
            source.resume()
            return source
        }
    }

    deinit { for source in sources { source.cancel() } }

    /// A write to a pipe that nobody reads fails, and ends nothing.
    package static func ignoreClosedPipes() { signal(SIGPIPE, SIG_IGN) }
}
