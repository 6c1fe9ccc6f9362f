/// Writes frames. Each frame is a whole message, and a client's frames are masked.
struct WebSocketFrameWriter: Sendable {
    let role: WebSocketRole
    private var masks: WebSocketMaskSource

    init(role: WebSocketRole, masks: WebSocketMaskSource) {
        self.role = role
        self.masks = masks
    }

    /// Appends one frame with `payload` to `queue`. A control frame carries at most ``WebSocketFrame/controlLimit``
    /// bytes.
    mutating func write(
        _ opcode: WebSocketOpcode, _ payload: UnsafeRawBufferPointer, into queue: inout ByteQueue
    ) {
        precondition(!opcode.isControl || payload.count <= WebSocketFrame.controlLimit, "a control frame is too long")
        let mask = role.masks ? masks.next() : nil
        let room = queue.room(WebSocketFrame.longestHeader + payload.count)
        guard let start = room.baseAddress else { return }  // Never happens, because the room is not empty.
        let header = WebSocketFrame.writeHeader(opcode, count: payload.count, mask: mask, to: start)
        if let source = payload.baseAddress {
            if let mask {
                mask.apply(from: source, to: start + header, count: payload.count)
            } else {
                (start + header).copyMemory(from: source, byteCount: payload.count)
            }
        }
        queue.didAppend(header + payload.count)
    }

    /// Appends a Close frame to `queue`. A reason that is too long is cut between two characters.
    mutating func writeClose(_ status: WebSocketStatus?, _ reason: String, into queue: inout ByteQueue) {
        var payload: [UInt8] = []
        if let status {
            payload = [UInt8(truncatingIfNeeded: status.rawValue >> 8), UInt8(truncatingIfNeeded: status.rawValue)]
            for character in reason.unicodeScalars {
                let bytes = Array(String(character).utf8)
                if payload.count + bytes.count > WebSocketFrame.controlLimit { break }
                payload += bytes
            }
        }
        payload.withUnsafeBytes { write(.close, $0, into: &queue) }
    }
}
