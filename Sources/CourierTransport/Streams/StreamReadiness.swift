import Synchronization

/// Reports to the channel of a ``DuplexByteStream`` that the stream can be read or written again. Its functions may be
/// called from any thread; an unnecessary call is harmless.
public final class StreamReadiness: Sendable {
    private struct News {
        var isReadable = false
        var isWritable = false
        var isQueued = false
    }

    /// The event loop of the channel.
    public let loop: EventLoop

    private let news = Mutex(News())
    private weak let channel: ByteChannel?

    init(_ channel: ByteChannel) {
        self.channel = channel
        loop = channel.loop
    }

    /// Reports that a read may now return bytes, the end of the stream or an error.
    public func readable() { announce { $0.isReadable = true } }

    /// Reports that a write may now accept bytes.
    public func writable() { announce { $0.isWritable = true } }

    private func announce(_ change: (inout sending News) -> Void) {
        let isFirst = news.withLock { news in
            change(&news)
            defer { news.isQueued = true }
            return !news.isQueued
        }
        if isFirst { loop.enqueue(self) }
    }
}

extension StreamReadiness: LoopWork {
    /// Forwards the collected reports to the channel.
    public func runOnLoop() {
        let taken = news.withLock { news in
            defer { news = News() }
            return (readable: news.isReadable, writable: news.isWritable)
        }
        channel?.streamReady(readable: taken.readable, writable: taken.writable)
    }
}

extension StreamReadiness {
    /// Reports readability and writability at once, without queueing. Only a stream whose code runs on the loop may
    /// call this function, and not while its channel calls the stream.
    func ready(readable: Bool, writable: Bool) {
        channel?.streamReady(readable: readable, writable: writable)
    }
}

extension StreamReadiness {
    /// Reports that the peer no longer reads our output.
    func outputBroke(_ error: TransportError) { channel?.outputBroke(error) }

    /// Reports that the stream has failed. `error` returns the reason.
    func broke(_ error: () -> TransportError) { channel?.streamBroke(error()) }
}
