/// Reads frames out of bytes that come in any pieces, and checks every rule of RFC 6455 on the way.
///
/// Payload is passed on as it comes: neither a frame nor a message is collected first, so no length that a peer claims
/// makes it take memory. `header → data or control → header …`; `ended` after a Close frame, and then nothing is read.
struct WebSocketFrameReader: Sendable {
    /// What the peer may send at most.
    struct Limits: Hashable, Sendable {
        /// How many bytes the frames of one message may carry together.
        var message: Int
        /// How many bytes of a text message are checked for UTF-8 before it is refused without a further look.
        var text = 64 << 10
    }

    /// What the next bytes came to.
    enum Event: Equatable, Sendable {
        /// Payload of a binary message lies here, unmasked.
        case payload(Range<Int>)
        /// A Ping has come, whose payload is in ``WebSocketFrameReader/control``.
        case ping
        /// A Pong has come, whose payload is in ``WebSocketFrameReader/control``.
        case pong
        /// The peer closes, and gives a status or none.
        case close(WebSocketStatus?, reason: String)
    }

    private enum State: Sendable {
        case header
        case data
        case control(WebSocketOpcode)
        case ended
    }

    private let role: WebSocketRole
    private let limits: Limits
    private var state = State.header

    /// The first bytes of a header that came in pieces.
    private var header = InlineArray<14, UInt8>(repeating: 0)
    private var headerCount = 0
    private var headerSize = 2

    /// What the current frame still has to bring.
    private var remaining = 0
    private var isFinal = false
    /// The key of the current frame from where it is.
    private var mask: WebSocketMask?

    /// The message that the frames belong to; `nil` between messages.
    private var message: WebSocketOpcode?
    private var messageCount = 0
    private var text = UTF8Check()

    /// The payload of the last control frame.
    private(set) var control: [UInt8] = []

    /// Begins between messages; `role` is who reads.
    init(role: WebSocketRole, limits: Limits) {
        self.role = role
        self.limits = limits
    }

    /// Whether a frame or a message has begun and not ended.
    var isInsideMessage: Bool {
        switch state {
        case .header: headerCount > 0 || message != nil
        case .data, .control: true
        case .ended: false
        }
    }

    /// Reads on in `bytes` from `offset`, which it moves, to the next event; `nil` when all has been read.
    ///
    /// - Throws: What the peer did wrong; nothing may be read after that.
    mutating func next(
        in bytes: UnsafeMutableRawBufferPointer, at offset: inout Int
    ) throws(WebSocketViolation) -> Event? {
        while offset < bytes.count {
            switch state {
            case .header: try readHeader(bytes, &offset)
            case .data: if let place = try readData(bytes, &offset) { return .payload(place) }
            case .control: readControl(bytes, &offset)
            case .ended:
                offset = bytes.count
                return nil
            }
            // A frame without payload ends with its header.
            guard remaining == 0, headerCount == 0 else { continue }
            switch state {
            case .header, .ended: break
            case .data: try frameEnded()
            case .control(let opcode): return try controlEnded(opcode)
            }
        }
        return nil
    }

    // MARK: Header

    private mutating func readHeader(
        _ bytes: UnsafeMutableRawBufferPointer, _ offset: inout Int
    ) throws(WebSocketViolation) {
        if headerCount == 0, bytes.count &- offset >= WebSocketFrame.longestHeader, let base = bytes.baseAddress {
            // As it lies there.
            let start = UnsafeRawPointer(base + offset)
            try check(first: start.load(as: UInt8.self))
            let size = try check(second: (start + 1).load(as: UInt8.self), first: start.load(as: UInt8.self))
            try begin(start, size)
            offset &+= size
            return
        }
        while offset < bytes.count {
            header[headerCount] = bytes[offset]
            headerCount += 1
            offset += 1
            if headerCount == 1 { try check(first: header[0]) }
            if headerCount == 2 { headerSize = try check(second: header[1], first: header[0]) }
            guard headerCount >= 2, headerCount == headerSize else { continue }
            let whole = header
            headerCount = 0
            return try withUnsafeBytes(of: whole) { start throws(WebSocketViolation) in
                if let start = start.baseAddress { try begin(start, headerSize) }
            }
        }
    }

    private func check(first: UInt8) throws(WebSocketViolation) {
        if first & 0x70 != 0 {
            throw WebSocketViolation(.protocolError, "set a reserved bit, which no extension was agreed on for")
        }
        guard let opcode = WebSocketOpcode(rawValue: first & 0x0F) else {
            throw WebSocketViolation(.protocolError, "sent a frame of the reserved kind \(first & 0x0F)")
        }
        if opcode.isControl {
            if first & 0x80 == 0 { throw WebSocketViolation(.protocolError, "fragmented a control frame") }
        } else if opcode == .continuation, message == nil {
            throw WebSocketViolation(.protocolError, "continued a message that it had not begun")
        } else if opcode != .continuation, message != nil {
            throw WebSocketViolation(.protocolError, "began a message inside another")
        }
    }

    /// The size of the header that these two bytes begin.
    private func check(second: UInt8, first: UInt8) throws(WebSocketViolation) -> Int {
        let isMasked = second & 0x80 != 0
        switch role {
        case .client where isMasked: throw WebSocketViolation(.protocolError, "masked a frame, which servers must not")
        case .server where !isMasked: throw WebSocketViolation(.protocolError, "did not mask a frame")
        case .client, .server: break
        }
        let length = second & 0x7F
        if first & 0x08 != 0, length > WebSocketFrame.controlLimit {
            throw WebSocketViolation(.protocolError, "sent a control frame of more than 125 bytes")
        }
        return 2 + (length == 126 ? 2 : length == 127 ? 8 : 0) + (isMasked ? 4 : 0)
    }

    /// Begins a frame whose header of `size` bytes is at `start`.
    private mutating func begin(_ start: UnsafeRawPointer, _ size: Int) throws(WebSocketViolation) {
        let first = start.load(as: UInt8.self)
        let second = (start + 1).load(as: UInt8.self)
        let length = try Self.length(second & 0x7F, start + 2)
        mask = second & 0x80 == 0 ? nil : WebSocketMask(start + size - 4)
        isFinal = first & 0x80 != 0
        guard let opcode = WebSocketOpcode(rawValue: first & 0x0F) else { return }  // Checked before.
        remaining = length
        if opcode.isControl {
            control.removeAll(keepingCapacity: true)
            state = .control(opcode)
            return
        }
        if opcode != .continuation {
            message = opcode
            messageCount = 0
            text = UTF8Check()
        }
        try count(length)
        state = .data
    }

    private static func length(_ short: UInt8, _ more: UnsafeRawPointer) throws(WebSocketViolation) -> Int {
        switch short {
        case 126:
            let length = Int(UInt16(bigEndian: more.loadUnaligned(as: UInt16.self)))
            if length < 126 { throw WebSocketViolation(.protocolError, "wrote a length in more bytes than it needs") }
            return length
        case 127:
            let length = UInt64(bigEndian: more.loadUnaligned(as: UInt64.self))
            if length >> 63 != 0 { throw WebSocketViolation(.protocolError, "wrote a length of more than 63 bits") }
            if length <= 0xFFFF {
                throw WebSocketViolation(.protocolError, "wrote a length in more bytes than it needs")
            }
            return Int(clamping: length)
        default: return Int(short)
        }
    }

    /// Adds a frame to its message.
    private mutating func count(_ length: Int) throws(WebSocketViolation) {
        let (sum, overflows) = messageCount.addingReportingOverflow(length)
        if overflows || sum > limits.message {
            throw WebSocketViolation(.messageTooBig, "sent a message of more than \(limits.message) bytes")
        }
        if message == .text, sum > limits.text { throw Self.isText }
        messageCount = sum
    }

    // MARK: Payload

    /// MQTT is sent in binary frames only [MQTT-6.0.0-1].
    private static let isText = WebSocketViolation(.unsupportedData, "sent text, and MQTT is binary [MQTT-6.0.0-1]")
    private static let isNoUTF8 = WebSocketViolation(.invalidPayload, "sent text that is not UTF-8")

    private mutating func readData(
        _ bytes: UnsafeMutableRawBufferPointer, _ offset: inout Int
    ) throws(WebSocketViolation) -> Range<Int>? {
        let place = take(bytes, &offset)
        guard message == .text else {
            if remaining == 0 { try frameEnded() }
            return place.isEmpty ? nil : place
        }
        if !text.accepts(UnsafeRawBufferPointer(rebasing: bytes[place])) { throw Self.isNoUTF8 }
        return nil
    }

    private mutating func readControl(_ bytes: UnsafeMutableRawBufferPointer, _ offset: inout Int) {
        control.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[take(bytes, &offset)]))
    }

    /// The part of the current frame that is in `bytes`, unmasked.
    private mutating func take(_ bytes: UnsafeMutableRawBufferPointer, _ offset: inout Int) -> Range<Int> {
        let count = min(remaining, bytes.count &- offset)
        let place = offset..<(offset &+ count)
        if let mask, let start = bytes.baseAddress {
            mask.apply(from: start + offset, to: start + offset, count: count)
            self.mask = mask.advanced(by: count)
        }
        offset &+= count
        remaining &-= count
        return place
    }

    // MARK: Ends

    private mutating func frameEnded() throws(WebSocketViolation) {
        state = .header
        guard isFinal else { return }
        if message == .text { throw text.isInsideCharacter ? Self.isNoUTF8 : Self.isText }
        message = nil
    }

    private mutating func controlEnded(_ opcode: WebSocketOpcode) throws(WebSocketViolation) -> Event {
        state = .header
        switch opcode {
        case .ping: return .ping
        case .close:
            state = .ended
            return try readClose()
        case .pong, .continuation, .text, .binary: return .pong
        }
    }

    private func readClose() throws(WebSocketViolation) -> Event {
        if control.isEmpty { return .close(nil, reason: "") }
        guard control.count >= 2 else {
            throw WebSocketViolation(.protocolError, "closed with half a status")
        }
        let status = WebSocketStatus(rawValue: UInt16(control[0]) << 8 | UInt16(control[1]))
        guard status.mayBeSent else {
            throw WebSocketViolation(
                .protocolError, "closed with the status \(status.rawValue), which is not for frames")
        }
        guard let reason = String(validating: control[2...], as: UTF8.self) else {
            throw WebSocketViolation(.invalidPayload, "closed for a reason that is not UTF-8")
        }
        return .close(status, reason: reason)
    }
}

extension WebSocketFrameReader {
    /// How the bytes of a peer end.
    enum End: Hashable, Sendable {
        /// By a Close frame.
        case closed(WebSocketStatus?, reason: String)
        /// By a mistake of the peer.
        case violated(WebSocketViolation)
    }

    /// Reads all of `bytes` and moves the payload in them together: its place, and the end if it is reached.
    ///
    /// One payload stays where it is; those behind it are moved over the headers between. `pinged` is called for each
    /// Ping, in order.
    mutating func unwrap(
        _ bytes: UnsafeMutableRawBufferPointer, pinged: (UnsafeRawBufferPointer) -> Void
    ) -> (payload: Range<Int>, end: End?) {
        var offset = 0
        var payload = 0..<0
        do throws(WebSocketViolation) {
            while let event = try next(in: bytes, at: &offset) {
                switch event {
                case .payload(let place):
                    if payload.isEmpty {
                        payload = place
                    } else if let start = bytes.baseAddress {
                        (start + payload.upperBound).copyMemory(from: start + place.lowerBound, byteCount: place.count)
                        payload = payload.lowerBound..<(payload.upperBound &+ place.count)
                    }
                case .ping: control.withUnsafeBytes { pinged($0) }
                case .pong: break  // None was asked for; RFC 6455, section 5.5.3, allows it.
                case .close(let status, let reason): return (payload, .closed(status, reason: reason))
                }
            }
            return (payload, nil)
        } catch {
            return (payload, .violated(error))
        }
    }
}
