import CourierTransport
import MQTTCodec

/// The handler of one stream's channel, which compares the received bytes with the expected bytes.
///
/// Safe to share: mutable state is used only on the loop, where the channel calls this handler.
final class StreamEnd: ChannelHandler, @unchecked Sendable {
    private enum Goal {
        case bytes(Int)
        case endOfInput
        case close
    }

    private let loop: EventLoop
    private var channel: ByteChannel?
    private var bytes: [UInt8] = []
    private var hasInputEnded = false
    private var closeReason: ChannelCloseReason?
    private var waiting: (goal: Goal, continuation: CheckedContinuation<Void, Never>)?

    init(on loop: EventLoop) { self.loop = loop }

    // MARK: Actions

    /// Opens a channel on `stream`. Call it only once.
    func open(_ stream: any DuplexByteStream) async {
        await onLoop { end in
            var options = ChannelOptions()
            options.staysOpenAfterInputClosed = true
            end.channel = ByteChannel.connect(to: .stream(stream), options: options, on: end.loop, handler: end)
        }
    }

    func onLoop<Result: Sendable>(_ body: @escaping @Sendable (StreamEnd) -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            loop.execute { continuation.resume(returning: body(self)) }
        }
    }

    func perform(_ action: @escaping @Sendable (ByteChannel) -> Void) async {
        await onLoop { end in
            if let channel = end.channel { action(channel) }
        }
    }

    func write(_ bytes: [UInt8]) async { await perform { end in bytes.withBytes { end.write($0) } } }

    // MARK: Waiting

    /// Waits until `expected.count` bytes were received, and removes these bytes from the buffer of received bytes.
    /// Throws an error if the bytes differ from `expected`.
    func expect(_ expected: [UInt8]) async throws {
        await wait(for: .bytes(expected.count))
        let (found, reason) = await onLoop { end in
            let found = Array(end.bytes.prefix(expected.count))
            end.bytes.removeFirst(found.count)
            return (found, end.closeReason)
        }
        if found.count < expected.count {
            let how = reason.map { ", and the stream was closed: \($0)" } ?? ", and then its input ended"
            throw Finding("\(found.count) of \(expected.count) bytes arrived\(how)")
        }
        if found == expected { return }
        if let wrong = found.indices.first(where: { found[$0] != expected[$0] }) {
            throw Finding("byte \(wrong) of \(expected.count) is \(found[wrong]) instead of \(expected[wrong])")
        }
    }

    func expectEndOfInput() async throws {
        await wait(for: .endOfInput)
        let (hasEnded, reason, extra) = await onLoop { ($0.hasInputEnded, $0.closeReason, $0.bytes.count) }
        try require(extra == 0, "\(extra) bytes arrived that were not written")
        try require(hasEnded, "the peer's output did not end normally: \(brief(reason))")
    }

    /// Waits until the input ends or the stream is closed. Returns `nil` if the input ended without an error, otherwise
    /// the reason of the close.
    func firstEnd() async -> ChannelCloseReason? {
        await wait(for: .endOfInput)
        return await onLoop { $0.hasInputEnded ? nil : $0.closeReason }
    }

    func expectClose() async throws -> ChannelCloseReason {
        await wait(for: .close)
        guard let reason = await onLoop(\.closeReason) else { throw Finding("the stream did not close") }
        return reason
    }

    private func wait(for goal: Goal) async {
        await withCheckedContinuation { continuation in
            loop.execute { [self] in
                waiting = (goal, continuation)
                check()
            }
        }
    }

    private func check() {
        guard let (goal, continuation) = waiting else { return }
        let isMet =
            switch goal {
            case .bytes(let count): bytes.count >= count || hasInputEnded || closeReason != nil
            case .endOfInput: hasInputEnded || closeReason != nil
            case .close: closeReason != nil
            }
        guard isMet else { return }
        waiting = nil
        continuation.resume()
    }

    // MARK: Channel events

    func received(_ bytes: RawSpan) -> Int {
        bytes.withUnsafeBytes { self.bytes.append(contentsOf: $0) }
        check()
        return bytes.byteCount
    }

    func inputClosed() {
        hasInputEnded = true
        check()
    }

    func closed(_ reason: ChannelCloseReason) {
        closeReason = reason
        channel = nil
        check()
    }
}
