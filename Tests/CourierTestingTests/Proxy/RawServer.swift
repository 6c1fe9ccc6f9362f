import CourierTransport

/// A server that records the received bytes. A test decides when it begins to read. When the client ends its output, the
/// server sends its last bytes and closes.
///
/// Safe to share, because its mutable state is used only on the event loop.
final class RawServer: ChannelHandler, @unchecked Sendable {
    private let loop: EventLoop
    private var channel: ByteChannel?
    private var isReading: Bool
    private let lastBytes: [UInt8]
    private var bytes: [UInt8] = []
    private var reason: ChannelCloseReason?
    private var waiting: [(condition: (RawServer) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []

    init(on loop: EventLoop, isReading: Bool = true, lastBytes: [UInt8] = []) {
        self.loop = loop
        self.isReading = isReading
        self.lastBytes = lastBytes
    }

    /// Opens the only connection to this server, and returns the client's end.
    func connectInMemory() -> TransportEndpoint {
        let (client, server) = MemoryStream.pair()
        var options = ChannelOptions()
        options.staysOpenAfterInputClosed = true
        loop.execute { [self, options] in
            ByteChannel.accept(server, options: options, on: loop) { channel in
                self.channel = channel
                return self
            }
        }
        return .stream(client)
    }

    func resumeReading() async {
        await run {
            $0.isReading = true
            $0.channel?.resumeReading()
        }
    }

    func write(_ bytes: [UInt8]) async { await run { $0.channel?.write(bytes.span.bytes) } }

    var receivedCount: Int { get async { await run(\.bytes.count) } }

    /// The received bytes, as soon as `count` bytes were received or the connection has ended.
    func received(_ count: Int) async -> [UInt8] {
        await wait { $0.bytes.count >= count || $0.reason != nil }
        return await run(\.bytes)
    }

    /// The received bytes, once the connection has ended.
    func end() async -> [UInt8] {
        await wait { $0.reason != nil }
        return await run(\.bytes)
    }

    private func run<Result: Sendable>(_ body: @escaping @Sendable (RawServer) -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            loop.execute { continuation.resume(returning: body(self)) }
        }
    }

    private func wait(until condition: @escaping @Sendable (RawServer) -> Bool) async {
        await withCheckedContinuation { continuation in
            loop.execute { [self] in
                waiting.append((condition, continuation))
                check()
            }
        }
    }

    private func check() {
        let met = waiting.filter { $0.condition(self) }
        waiting.removeAll { $0.condition(self) }
        for (_, continuation) in met { continuation.resume() }
    }

    func opened(_ channel: ByteChannel) { if !isReading { channel.pauseReading() } }

    func received(_ bytes: RawSpan) -> Int {
        bytes.withUnsafeBytes { self.bytes.append(contentsOf: $0) }
        check()
        return bytes.byteCount
    }

    func inputClosed() {
        let bytes = lastBytes
        channel?.write(bytes.span.bytes)
        channel?.close()
    }

    func closed(_ reason: ChannelCloseReason) {
        self.reason = reason
        channel = nil
        check()
    }
}
