/// The WebSocket state of one connection. It puts bytes into frames, takes received bytes out of frames, and does not
/// use sockets.
///
/// States: `handshaking → open → closing → over`. Received bytes are passed to ``advance(_:)`` until the handshake is
/// done, and then to ``unwrap(_:)``. ``output`` holds the bytes to send. The object is used only on the channel's event
/// loop.
final class WebSocketSession {
    private enum Handshake {
        case client(WebSocketClientHandshake)
        case server(WebSocketServerHandshake)
    }

    /// The maximum size of waiting Pong frames in bytes. If it is exceeded, a new Pong replaces all waiting Pongs,
    /// because an endpoint may answer only the latest Ping (RFC 6455, section 5.5.3).
    static let answerLimit = 16 << 10

    private let frameSize: Int
    private let peerName: String
    /// The opening handshake; `nil` when it is done.
    private var handshake: Handshake?
    private var reader: WebSocketFrameReader
    private var writer: WebSocketFrameWriter

    /// Bytes to send: first our part of the handshake, then frames.
    private var outgoing = ByteQueue()
    /// Whole Pong frames that wait to be sent.
    private var answers = ByteQueue()
    /// Bytes that were received together with the end of the handshake. They belong to the first frames of the peer.
    private var early = ByteQueue()

    private(set) var hasSentClose = false
    /// The reason why the peer's frames ended; `nil` until then.
    private(set) var end: WebSocketFrameReader.End?

    /// Makes the connecting side. The request then waits in ``output``.
    ///
    /// - Parameters:
    ///   - configuration: The settings of the request.
    ///   - host: The value of the `Host` field if the configuration has none.
    ///   - peerName: The peer's name in error messages.
    ///   - generator: The source of randomness for the key and the masks.
    /// - Throws: ``TransportError/Code/invalidConfiguration`` if the configuration is invalid.
    init(
        connecting configuration: WebSocketConfiguration, host: String, peerName: String,
        using generator: inout some RandomNumberGenerator
    ) throws(TransportError) {
        try configuration.check()
        let handshake = WebSocketClientHandshake(
            configuration, host: host, peerName: peerName, key: WebSocketKey(using: &generator))
        self.handshake = .client(handshake)
        self.peerName = peerName
        frameSize = configuration.frameSize
        reader = WebSocketFrameReader(role: .client, limits: .init(message: configuration.messageLimit))
        writer = WebSocketFrameWriter(role: .client, masks: WebSocketMaskSource(using: &generator))
        append(handshake.request)
    }

    /// Makes the accepting side.
    init(
        accepting configuration: WebSocketConfiguration, peerName: String,
        using generator: inout some RandomNumberGenerator
    ) throws(TransportError) {
        try configuration.check()
        handshake = .server(WebSocketServerHandshake(configuration, peerName: peerName))
        self.peerName = peerName
        frameSize = configuration.frameSize
        reader = WebSocketFrameReader(role: .server, limits: .init(message: configuration.messageLimit))
        writer = WebSocketFrameWriter(role: .server, masks: WebSocketMaskSource(using: &generator))
    }

    private func append(_ text: String) {
        var text = text
        text.withUTF8 { outgoing.append(UnsafeRawBufferPointer($0)) }
    }

    // MARK: Handshake

    /// Continues the handshake and returns whether it is done. After this call, ``output`` may hold bytes to send, even
    /// if the call has thrown an error.
    func advance(_ bytes: UnsafeRawBufferPointer) throws(TransportError) -> Bool {
        let taken: Int
        switch handshake {
        case .none: return true
        case .client(var client):
            let isDone: Bool
            (taken, isDone) = try client.received(bytes)
            handshake = isDone ? nil : .client(client)
        case .server(var server):
            let verdict: WebSocketServerHandshake.Verdict?
            (taken, verdict) = server.received(bytes)
            handshake = verdict == nil ? .server(server) : nil
            if let verdict {
                append(verdict.answer)
                if let refusal = verdict.refusal { throw refusal }
            }
        }
        early.append(UnsafeRawBufferPointer(rebasing: bytes[taken...]))
        return handshake == nil
    }

    /// Returns the error to report if the peer ends the connection during the handshake. `deed` is the peer's action:
    /// `closed` or `reset`.
    func brokenOff(_ deed: String, errno: Int32? = nil) -> TransportError {
        switch handshake {
        case .client(let client): client.brokenOff(deed, errno: errno)
        case .server, .none:
            TransportError(
                .webSocketHandshakeFailed,
                "connection \(deed) by \(peerName) in the middle of the WebSocket handshake", errno: errno)
        }
    }

    // MARK: Input

    /// True if bytes that were received with the end of the handshake are still unread.
    var hasEarlyInput: Bool { !early.isEmpty }

    /// True if frames, or the end of the frames, can be reported without another read of the stream.
    var hasNews: Bool { hasEarlyInput || hasPeerEnded }

    /// Moves bytes of `early` into `space`. Returns the number of moved bytes.
    func takeEarlyInput(into space: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(early.count, space.count)
        space.copyMemory(from: UnsafeRawBufferPointer(rebasing: early.contents[..<count]))
        early.removeFirst(count)
        early.trim(above: 0)
        return count
    }

    /// True if a frame or a message of the peer is incomplete. If the input ended now, bytes would be missing.
    var isInsideMessage: Bool { end == nil && reader.isInsideMessage }

    /// Moves the payloads of all frames in `bytes` together, without gaps, and returns their range. Bytes after a Close
    /// frame or after a violation are ignored, and ``end`` is then set.
    func unwrap(_ bytes: UnsafeMutableRawBufferPointer) -> Range<Int> {
        guard end == nil else { return 0..<0 }
        let (payload, end) = reader.unwrap(bytes) { answer($0) }
        self.end = end
        return payload
    }

    private func answer(_ ping: UnsafeRawBufferPointer) {
        if hasSentClose { return }
        if answers.count + WebSocketFrame.longestHeader + ping.count > Self.answerLimit { answers.removeAll() }
        writer.write(.pong, ping, into: &answers)
    }

    // MARK: Output

    /// True if payload can be sent.
    var isOpen: Bool { handshake == nil && !hasSentClose }

    var hasAnswers: Bool { !answers.isEmpty }

    var outputCount: Int { outgoing.count }

    var hasOutput: Bool { !outgoing.isEmpty }

    /// The bytes to send. The pointer is valid until the next call.
    var output: UnsafeRawBufferPointer { outgoing.contents }

    func removeOutput(_ count: Int) {
        outgoing.removeFirst(count)
        outgoing.trim(above: ByteQueue.keptCapacity)
    }

    /// Puts all of `payload` into frames and appends them to the output.
    func wrap(_ payload: UnsafeRawBufferPointer) {
        var rest = payload
        while rest.count > frameSize {
            writer.write(.binary, UnsafeRawBufferPointer(rebasing: rest[..<frameSize]), into: &outgoing)
            rest = UnsafeRawBufferPointer(rebasing: rest[frameSize...])
        }
        if !rest.isEmpty { writer.write(.binary, rest, into: &outgoing) }
    }

    /// Appends waiting Pongs, and then frames with bytes of `queue`, to the output until the output has at least
    /// `limit` bytes.
    func wrap(_ queue: inout ByteQueue, limit: Int) {
        if outgoing.count < limit, !answers.isEmpty {
            outgoing.append(answers.contents)
            answers.removeAll()
            answers.trim(above: 0)
        }
        while !queue.isEmpty, outgoing.count < limit {
            let count = min(queue.count, frameSize)
            writer.write(.binary, UnsafeRawBufferPointer(rebasing: queue.contents[..<count]), into: &outgoing)
            queue.removeFirst(count)
        }
    }

    // MARK: Closing

    /// True if the peer's frames have ended, and no more frames are expected.
    var hasPeerEnded: Bool { end != nil }

    /// Appends a Close frame to the output, only once. Returns whether it was appended. The frame answers the peer's
    /// Close frame, reports the peer's violation, or starts a normal close.
    func beginClose() -> Bool {
        guard isOpen else { return false }
        hasSentClose = true
        switch end {
        case .none: writer.writeClose(.normal, "", into: &outgoing)
        case .closed(let status, _): writer.writeClose(status, "", into: &outgoing)
        case .violated(let violation): writer.writeClose(violation.status, violation.deed, into: &outgoing)
        }
        return true
    }
}
