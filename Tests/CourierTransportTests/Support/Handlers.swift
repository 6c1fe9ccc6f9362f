import Synchronization

@testable import CourierTransport

/// Records the events of a channel.
final class Recorder: ChannelHandler, CustomStringConvertible {
    struct Log: Sendable, CustomStringConvertible {
        var isOpen = false
        var bytes: [UInt8] = []
        var offers: [Int] = []
        var batches = 0
        var drained = 0
        var lowWaters = 0
        var inputClosed = 0
        var closed: [ChannelCloseReason] = []

        var description: String {
            "open \(isOpen), \(bytes.count) bytes, \(offers.count) offers, \(batches) batches, drained \(drained), "
                + "low \(lowWaters), input closed \(inputClosed), closed \(closed)"
        }
    }

    let log = Watched(Log())
    private let consume: @Sendable (Int) -> Int
    private let onOpen: @Sendable (ByteChannel) -> Void
    let channel = Mutex<ByteChannel?>(nil)

    /// Creates a recorder. `consume` returns how many of the offered bytes are consumed.
    init(
        consume: @escaping @Sendable (Int) -> Int = { $0 }, onOpen: @escaping @Sendable (ByteChannel) -> Void = { _ in }
    ) {
        self.consume = consume
        self.onOpen = onOpen
    }

    var description: String { "recorder: \(log.value)" }

    func opened(_ channel: ByteChannel) {
        self.channel.withLock { $0 = channel }
        log.update { $0.isOpen = true }
        onOpen(channel)
    }

    func received(_ bytes: RawSpan) -> Int {
        let count = bytes.byteCount
        let taken = consume(count)
        let copy = bytes.withUnsafeBytes { Array($0[..<taken]) }
        log.update {
            $0.offers.append(count)
            $0.bytes.append(contentsOf: copy)
        }
        return taken
    }

    func readBatchEnded() { log.update { $0.batches += 1 } }
    func drained() { log.update { $0.drained += 1 } }
    func fellBelowLowWater() { log.update { $0.lowWaters += 1 } }
    func inputClosed() { log.update { $0.inputClosed += 1 } }
    func closed(_ reason: ChannelCloseReason) {
        log.update { $0.closed.append(reason) }
        channel.withLock { $0 = nil }
    }

    func open() async throws -> ByteChannel {
        let log = try await log.wait("opening") { $0.isOpen || !$0.closed.isEmpty }
        guard log.isOpen, let channel = channel.withLock({ $0 }) else {
            throw Watched<Log>.Late(description: "not opened: \(log.closed)")
        }
        return channel
    }

    func bytes(_ count: Int) async throws -> [UInt8] {
        let log = try await log.wait("\(count) bytes") { $0.bytes.count >= count || !$0.closed.isEmpty }
        return log.bytes
    }

    func end() async throws -> ChannelCloseReason {
        let log = try await log.wait("the end") { !$0.closed.isEmpty }
        return log.closed[0]
    }

    func failure() async throws -> TransportError {
        switch try await end() {
        case .failed(let error): return error
        case .closedByOwner, .closedByPeer:
            throw Watched<Log>.Late(description: "closed without an error: \(log.value)")
        }
    }
}

/// Sends received bytes back. If too many bytes wait to be sent, it pauses reading.
///
/// Safe: used on the loop only.
final class Echo: ChannelHandler, @unchecked Sendable {
    private var channel: ByteChannel?
    let security = Watched<TLSSummary?>(nil)
    let ended = Watched<ChannelCloseReason?>(nil)

    func opened(_ channel: ByteChannel) {
        self.channel = channel
        let summary = channel.security
        security.update { $0 = summary }
    }

    func received(_ bytes: RawSpan) -> Int {
        channel?.append(bytes)
        return bytes.byteCount
    }

    func readBatchEnded() {
        channel?.flush()
        if channel?.isAboveHighWater == true { channel?.pauseReading() }
    }

    func fellBelowLowWater() { channel?.resumeReading() }

    func closed(_ reason: ChannelCloseReason) {
        channel = nil
        ended.update { $0 = reason }
    }
}

extension ByteChannel {
    /// Writes bytes to the channel, from any thread.
    func send(_ bytes: [UInt8]) {
        loop.execute { self.write(bytes.span.bytes) }
    }

    func write(_ bytes: [UInt8]) { write(bytes.span.bytes) }

    func onLoop<Result: Sendable>(_ body: @escaping @Sendable (ByteChannel) -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            loop.execute { continuation.resume(returning: body(self)) }
        }
    }
}

extension EventLoop {
    func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            execute { continuation.resume(returning: body()) }
        }
    }
}

/// Creates a loop, runs `body` with it, and shuts the loop down.
func withLoop(
    readBufferSize: Int = EventLoop.readBufferSize, _ body: (EventLoop) async throws -> Void
) async throws {
    let loop = try EventLoop(name: "test-loop", readBufferSize: readBufferSize)
    do {
        try await body(loop)
    } catch {
        await loop.shutdown()
        throw error
    }
    await loop.shutdown()
}
