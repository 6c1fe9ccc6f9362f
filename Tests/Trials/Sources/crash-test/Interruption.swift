import Dispatch
import Glibc

/// Waits for SIGINT, which ends the last worker.
struct Interruption {
    private let stream: AsyncStream<Never>
    private let source: any DispatchSourceSignal

    init(on queue: DispatchQueue) {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        self.stream = stream
        signal(SIGINT, SIG_IGN)
        source = DispatchSource.makeSignalSource(signal: SIGINT, queue: queue)
        source.setEventHandler { continuation.finish() }
        source.resume()
    }

    /// Returns after SIGINT.
    func wait() async {
        for await _ in stream {}
        withExtendedLifetime(source) {}
    }
}
