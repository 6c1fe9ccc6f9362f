import Synchronization

@testable import CourierTransport

/// A server that reads a WebSocket request, sends a given answer, and then does what `Then` says.
///
/// Safe: used on the loop only, except for the values with locks.
final class RawServer: ChannelHandler, @unchecked Sendable {
    /// The server's action after its answer.
    enum Then: Sendable { case stays, closes, resets }

    private let answer: @Sendable (_ request: [UInt8]) -> [UInt8]
    private let then: Then
    private var channel: ByteChannel?
    private var request: [UInt8]? = []
    /// The bytes that followed the request.
    let frames = Watched<[UInt8]>([])
    let closed = Watched<[ChannelCloseReason]>([])
    let opened = Watched<ByteChannel?>(nil)

    init(then: Then = .stays, answer: @escaping @Sendable (_ request: [UInt8]) -> [UInt8]) {
        self.answer = answer
        self.then = then
    }

    /// Creates a server that answers the handshake correctly and then sends `bytes`.
    convenience init(then: Then = .stays, sending bytes: [UInt8]) {
        self.init(then: then) { Array(WebSocketServerSide.answer(to: $0).utf8) + bytes }
    }

    func opened(_ channel: ByteChannel) {
        self.channel = channel
        opened.update { $0 = channel }
    }

    func received(_ bytes: RawSpan) -> Int {
        let new = bytes.withUnsafeBytes { Array($0) }
        guard var head = request else {
            frames.update { $0 += new }
            return new.count
        }
        head += new
        guard head.suffix(4).elementsEqual("\r\n\r\n".utf8) else {
            request = head
            return new.count
        }
        request = nil
        channel?.write(answer(head))
        switch then {
        case .stays: break
        case .closes: channel?.close()
        case .resets: channel?.abort()
        }
        return new.count
    }

    func closed(_ reason: ChannelCloseReason) {
        channel = nil
        closed.update { $0.append(reason) }
    }

    /// Returns the complete frames of a client in these bytes.
    static func read(_ bytes: [UInt8]) throws -> [(opcode: UInt8, payload: [UInt8])] {
        var frames: [(opcode: UInt8, payload: [UInt8])] = []
        var rest = bytes[...]
        while rest.count >= 6 {
            let start = rest.startIndex
            let short = Int(rest[start + 1] & 0x7F)
            let more = short == 126 ? 2 : short == 127 ? 8 : 0
            guard rest.count >= 6 + more else { break }
            let length =
                more == 0 ? short : rest[(start + 2)..<(start + 2 + more)].reduce(0) { $0 << 8 | Int($1) }
            let mask = Array(rest[(start + 2 + more)..<(start + 6 + more)])
            guard rest.count >= 6 + more + length else { break }
            let payload = rest[(start + 6 + more)..<(start + 6 + more + length)].enumerated().map { $1 ^ mask[$0 % 4] }
            frames.append((rest[start] & 0x0F, payload))
            rest = rest.dropFirst(6 + more + length)
        }
        return frames
    }
}
