/// Which end of a WebSocket one is: a client masks what it sends, a server does not (RFC 6455, section 5.1).
enum WebSocketRole: Hashable, Sendable {
    case client, server

    var masks: Bool { self == .client }
}

/// The kinds of frames (RFC 6455, section 5.2).
enum WebSocketOpcode: UInt8, Sendable {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    /// Control frames have at most 125 bytes, are never fragmented, and may stand between fragments.
    var isControl: Bool { rawValue & 0x8 != 0 }
}

/// What all frames have in front.
enum WebSocketFrame {
    /// The longest header: two bytes, the length in eight, the mask in four.
    static let longestHeader = 14
    /// How many bytes a control frame carries at most.
    static let controlLimit = 125

    /// Writes the header of a whole message into `space`, which has ``longestHeader`` bytes; its size.
    static func writeHeader(
        _ opcode: WebSocketOpcode, count: Int, mask: WebSocketMask?, to space: UnsafeMutableRawPointer
    ) -> Int {
        let maskBit: UInt8 = mask == nil ? 0 : 0x80
        space.storeBytes(of: 0x80 | opcode.rawValue, as: UInt8.self)
        var size = 2
        switch count {
        case ..<126: (space + 1).storeBytes(of: maskBit | UInt8(truncatingIfNeeded: count), as: UInt8.self)
        case ...0xFFFF:
            (space + 1).storeBytes(of: maskBit | 126, as: UInt8.self)
            (space + 2).storeBytes(of: UInt16(truncatingIfNeeded: count).bigEndian, as: UInt16.self)
            size = 4
        default:
            (space + 1).storeBytes(of: maskBit | 127, as: UInt8.self)
            (space + 2).storeBytes(of: UInt64(count).bigEndian, as: UInt64.self)
            size = 10
        }
        guard let mask else { return size }
        (space + size).storeBytes(of: mask.word, as: UInt32.self)
        return size + 4
    }
}

/// Writes frames: each a whole message, masked on the way where the role asks for it.
struct WebSocketFrameWriter: Sendable {
    let role: WebSocketRole
    private var masks: WebSocketMaskSource

    init(role: WebSocketRole, masks: WebSocketMaskSource) {
        self.role = role
        self.masks = masks
    }

    /// Adds one frame around `payload` to `queue`; of a control frame at most ``WebSocketFrame/controlLimit`` bytes.
    mutating func write(
        _ opcode: WebSocketOpcode, _ payload: UnsafeRawBufferPointer, into queue: inout ByteQueue
    ) {
        precondition(!opcode.isControl || payload.count <= WebSocketFrame.controlLimit, "a control frame is short")
        let mask = role.masks ? masks.next() : nil
        let room = queue.room(WebSocketFrame.longestHeader + payload.count)
        guard let start = room.baseAddress else { return }  // Never: the room is not empty.
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

    /// Adds a Close frame; the reason is cut to what fits, between characters.
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
