/// The WebSocket of one connection: turns frames into the bytes in them and back, and knows no sockets.
///
/// `handshaking → open → closing → over`. Received bytes go through ``advance(_:)`` until the handshake is done and then
/// through ``unwrap(_:)``; what is to be sent piles up in ``output``. Touched on the channel's loop only.
final class WebSocketSession {
    private enum Handshake {
        case client(WebSocketClientHandshake)
        case server(WebSocketServerHandshake)
    }

    /// How many bytes of answers to Pings may wait; beyond it only the latest Ping is answered, which RFC 6455,
    /// section 5.5.3, allows.
    static let answerLimit = 16 << 10

    private let frameSize: Int
    private let peerName: String
    /// `nil` once it is done.
    private var handshake: Handshake?
    private var reader: WebSocketFrameReader
    private var writer: WebSocketFrameWriter

    /// Frames, and before them our part of the handshake.
    private var outgoing = ByteQueue()
    /// Answers to Pings, whole frames.
    private var answers = ByteQueue()
    /// What came behind the peer's part of the handshake.
    private var early = ByteQueue()

    private(set) var hasSentClose = false
    /// How the peer's frames have ended.
    private(set) var end: WebSocketFrameReader.End?

    /// The connecting side; the request waits in ``output``.
    ///
    /// - Parameters:
    ///   - configuration: What to ask for.
    ///   - host: What the `Host` field says where the configuration says nothing.
    ///   - peerName: How messages call the peer.
    ///   - generator: Where key and masks come from.
    /// - Throws: ``TransportError/Code/invalidConfiguration``.
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

    /// The accepting side.
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

    /// Continues with the handshake; whether it is done. Afterwards there may be output, also when it fails.
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

    /// What it means that the peer has `closed` or `reset` the connection in the middle of the handshake.
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

    /// Whether frames came right behind the handshake.
    var hasEarlyInput: Bool { !early.isEmpty }

    /// Whether there is something to tell that needs no more of the stream.
    var hasNews: Bool { hasEarlyInput || hasPeerEnded }

    /// Moves them into `space`; the count.
    func takeEarlyInput(into space: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(early.count, space.count)
        space.copyMemory(from: UnsafeRawBufferPointer(rebasing: early.contents[..<count]))
        early.removeFirst(count)
        early.trim(above: 0)
        return count
    }

    /// Whether the peer is in the middle of something, so that its end would cut bytes off.
    var isInsideMessage: Bool { end == nil && reader.isInsideMessage }

    /// Moves the payload in `bytes` together; its place. What stands behind a Close frame, or behind a mistake, is not
    /// looked at; ``end`` then says so.
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

    /// Whether payload can be sent.
    var isOpen: Bool { handshake == nil && !hasSentClose }

    var hasAnswers: Bool { !answers.isEmpty }

    var outputCount: Int { outgoing.count }

    var hasOutput: Bool { !outgoing.isEmpty }

    /// Bytes to be sent, valid until the next call.
    var output: UnsafeRawBufferPointer { outgoing.contents }

    func removeOutput(_ count: Int) {
        outgoing.removeFirst(count)
        outgoing.trim(above: ByteQueue.keptCapacity)
    }

    /// Puts all of `payload` into frames.
    func wrap(_ payload: UnsafeRawBufferPointer) {
        var rest = payload
        while rest.count > frameSize {
            writer.write(.binary, UnsafeRawBufferPointer(rebasing: rest[..<frameSize]), into: &outgoing)
            rest = UnsafeRawBufferPointer(rebasing: rest[frameSize...])
        }
        if !rest.isEmpty { writer.write(.binary, rest, into: &outgoing) }
    }

    /// Puts some of `queue` into frames, and the answers to Pings in front, unless enough waits to be sent already.
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

    /// Whether nothing of the peer is to be waited for.
    var hasPeerEnded: Bool { end != nil }

    /// Sends a Close frame, once; whether there is something to send for it now. It answers the peer's, names the peer's
    /// mistake, or says that we are done.
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
