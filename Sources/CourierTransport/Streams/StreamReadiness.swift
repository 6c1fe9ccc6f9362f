import Synchronization

/// By this a ``DuplexByteStream`` tells its channel that it can be read or written again. From any thread; saying it
/// without need is harmless.
public final class StreamReadiness: Sendable {
    private struct News {
        var isReadable = false
        var isWritable = false
        var isQueued = false
    }

    /// The loop that the channel lives on.
    public let loop: EventLoop

    private let news = Mutex(News())
    private weak let channel: ByteChannel?

    init(_ channel: ByteChannel) {
        self.channel = channel
        loop = channel.loop
    }

    /// There may be bytes to read, or the end, or an error.
    public func readable() { announce { $0.isReadable = true } }

    /// There may be room to write.
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
    /// Passes on what was announced.
    public func runOnLoop() {
        let taken = news.withLock { news in
            defer { news = News() }
            return (readable: news.isReadable, writable: news.isWritable)
        }
        channel?.streamReady(readable: taken.readable, writable: taken.writable)
    }
}

extension StreamReadiness {
    /// The same as ``readable()`` and ``writable()`` for a stream that is on the loop already and not inside a call of
    /// its channel.
    func ready(readable: Bool, writable: Bool) {
        channel?.streamReady(readable: readable, writable: writable)
    }
}

extension StreamReadiness {
    /// Nobody will read any more what is written.
    func outputBroke(_ error: TransportError) { channel?.outputBroke(error) }

    /// The stream is dead for the reason that `error` finds out.
    func broke(_ error: () -> TransportError) { channel?.streamBroke(error()) }
}
