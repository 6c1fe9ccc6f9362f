/// Reads frames from bytes that arrive in pieces of any size, and checks every rule of RFC 6455.
///
/// Payload is passed on as soon as it arrives, because the reader never stores a whole data frame or message. So a
/// large length in a frame's header allocates no memory. States: `header → data or control → header …`. After a Close
/// frame, the state is `ended`, and further bytes are ignored.
struct WebSocketFrameReader: Sendable {
    /// The limits for messages from the peer.
    struct Limits: Hashable, Sendable {
        /// The maximum number of payload bytes in all frames of one message.
        var message: Int
        /// The maximum size, in bytes, of a text message whose UTF-8 is checked. MQTT allows no text message, and the
        /// check only selects the status of the Close frame. A longer text message is refused without this check.
        var text = 64 << 10
    }

    /// The next event in the received bytes.
    enum Event: Equatable, Sendable {
        /// This range of the bytes contains unmasked payload of a binary message.
        case payload(Range<Int>)
        /// The peer sent a Ping. Its payload is in ``WebSocketFrameReader/control``.
        case ping
        /// The peer sent a Pong. Its payload is in ``WebSocketFrameReader/control``.
        case pong
        /// The peer sent a Close frame, with or without a status.
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

    /// The received bytes of a header that arrives in pieces.
    private var header = WebSocketHeaderBytes()
    private var headerSize = 2

    /// The number of payload bytes that are missing from the current frame.
    private var remaining = 0
    private var isFinal = false
    /// The masking key for the rest of the current frame; `nil` if the frame is not masked.
    private var mask: WebSocketMask?

    /// The kind of the current message; `nil` between messages.
    private var message: WebSocketOpcode?
    private var messageCount = 0
    private var text = UTF8Check()

    /// The payload of the last control frame.
    private(set) var control: [UInt8] = []

    /// Makes a reader that expects the start of a message. `role` is the side that reads.
    init(role: WebSocketRole, limits: Limits) {
        self.role = role
        self.limits = limits
    }

    /// True if a frame or a message has started and is not complete.
    var isInsideMessage: Bool {
        switch state {
        case .header: header.count > 0 || message != nil
        case .data, .control: true
        case .ended: false
        }
    }

    /// Reads `bytes` from `offset` to the next event, and moves `offset` to the first unread byte. Returns `nil` when
    /// all bytes are read.
    ///
    /// - Throws: The peer's violation of the protocol. The reader must not be used after that.
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
            guard remaining == 0, header.count == 0 else { continue }
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
        if header.count == 0, bytes.count &- offset >= WebSocketFrame.longestHeader, let base = bytes.baseAddress {
            // Fast path: the whole header is in `bytes` and can be read in place.
            let start = UnsafeRawPointer(base + offset)
            try check(first: start.load(as: UInt8.self))
            let size = try check(second: (start + 1).load(as: UInt8.self), first: start.load(as: UInt8.self))
            try begin(start, size)
            offset &+= size
            return
        }
        while offset < bytes.count {
            let byte = bytes[offset]
            header.append(byte)
            offset += 1
            if header.count == 1 { try check(first: byte) }
            if header.count == 2 { headerSize = try check(second: byte, first: header.first) }
            guard header.count >= 2, header.count == headerSize else { continue }
            let whole = header
            header.removeAll()
            return try whole.withBytes { start throws(WebSocketViolation) in try begin(start, headerSize) }
        }
    }

    private func check(first: UInt8) throws(WebSocketViolation) {
        if first & 0x70 != 0 {
            throw WebSocketViolation(.protocolError, "set a reserved bit, but no extension is in use")
        }
        guard let opcode = WebSocketOpcode(rawValue: first & 0x0F) else {
            throw WebSocketViolation(.protocolError, "sent a frame with the reserved opcode \(first & 0x0F)")
        }
        if opcode.isControl {
            if first & 0x80 == 0 { throw WebSocketViolation(.protocolError, "fragmented a control frame") }
        } else if opcode == .continuation, message == nil {
            throw WebSocketViolation(.protocolError, "sent a continuation frame without a message")
        } else if opcode != .continuation, message != nil {
            throw WebSocketViolation(.protocolError, "began a message before the previous message ended")
        }
    }

    /// Checks the second byte of a header, and returns the size of the whole header.
    private func check(second: UInt8, first: UInt8) throws(WebSocketViolation) -> Int {
        let isMasked = second & 0x80 != 0
        switch role {
        case .client where isMasked: throw WebSocketViolation(.protocolError, "masked a frame, but it is the server")
        case .server where !isMasked: throw WebSocketViolation(.protocolError, "did not mask a frame")
        case .client, .server: break
        }
        let length = second & 0x7F
        if first & 0x08 != 0, length > WebSocketFrame.controlLimit {
            throw WebSocketViolation(.protocolError, "sent a control frame of more than 125 bytes")
        }
        return 2 + (length == 126 ? 2 : length == 127 ? 8 : 0) + (isMasked ? 4 : 0)
    }

    /// Starts the frame whose header is at `start` and has `size` bytes.
    private mutating func begin(_ start: UnsafeRawPointer, _ size: Int) throws(WebSocketViolation) {
        let first = start.load(as: UInt8.self)
        let second = (start + 1).load(as: UInt8.self)
        let length = try Self.length(second & 0x7F, start + 2)
        mask = second & 0x80 == 0 ? nil : WebSocketMask(start + size - 4)
        isFinal = first & 0x80 != 0
        // This conversion always succeeds, because the opcode was checked before.
        guard let opcode = WebSocketOpcode(rawValue: first & 0x0F) else { return }
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
            if length < 126 { throw WebSocketViolation(.protocolError, "sent a length in more bytes than it needs") }
            return length
        case 127:
            let length = UInt64(bigEndian: more.loadUnaligned(as: UInt64.self))
            if length >> 63 != 0 { throw WebSocketViolation(.protocolError, "sent a length of more than 63 bits") }
            if length <= 0xFFFF {
                throw WebSocketViolation(.protocolError, "sent a length in more bytes than it needs")
            }
            return Int(clamping: length)
        default: return Int(short)
        }
    }

    /// Adds the length of a frame to its message, and checks the limits of the message.
    private mutating func count(_ length: Int) throws(WebSocketViolation) {
        let (sum, overflows) = messageCount.addingReportingOverflow(length)
        if overflows || sum > limits.message {
            throw WebSocketViolation(.messageTooBig, "sent a message of more than \(limits.message) bytes")
        }
        if message == .text, sum > limits.text { throw Self.isText }
        messageCount = sum
    }

    // MARK: Payload

    /// The violation by a text message: MQTT is sent in binary frames only [MQTT-6.0.0-1].
    private static let isText = WebSocketViolation(.unsupportedData, "sent text, but MQTT is binary [MQTT-6.0.0-1]")
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

    /// Unmasks the part of the current frame that is in `bytes`, and returns its range.
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

    // MARK: End of a frame

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
            throw WebSocketViolation(.protocolError, "sent a Close frame with half of a status code")
        }
        let status = WebSocketStatus(rawValue: UInt16(control[0]) << 8 | UInt16(control[1]))
        guard status.mayBeSent else {
            throw WebSocketViolation(
                .protocolError, "sent a Close frame with the reserved status \(status.rawValue)")
        }
        guard let reason = String(validating: control[2...], as: UTF8.self) else {
            throw WebSocketViolation(.invalidPayload, "sent a Close frame whose reason is not valid UTF-8")
        }
        return .close(status, reason: reason)
    }
}

extension WebSocketFrameReader {
    /// The reason why the peer's frames ended.
    enum End: Hashable, Sendable {
        /// The peer sent a Close frame.
        case closed(WebSocketStatus?, reason: String)
        /// The peer violated the protocol.
        case violated(WebSocketViolation)
    }

    /// Reads all of `bytes`, and moves the payloads of all frames together, without gaps. Returns the range of the
    /// payloads. If the peer's frames have ended, also returns the reason.
    ///
    /// The first payload stays in place. Later payloads are moved over the headers before them. `pinged` is called for
    /// each Ping, in order.
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
                case .pong: break  // A Pong without a Ping is allowed (RFC 6455, section 5.5.3).
                case .close(let status, let reason): return (payload, .closed(status, reason: reason))
                }
            }
            return (payload, nil)
        } catch {
            return (payload, .violated(error))
        }
    }
}
