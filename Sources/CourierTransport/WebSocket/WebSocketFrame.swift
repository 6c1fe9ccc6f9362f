/// The side of a WebSocket connection. A client masks the frames that it sends; a server does not (RFC 6455, section
/// 5.1).
enum WebSocketRole: Hashable, Sendable {
    case client, server

    var masks: Bool { self == .client }
}

/// The kinds of frames, by their opcodes (RFC 6455, section 5.2).
enum WebSocketOpcode: UInt8, Sendable {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    /// True for a control frame. A control frame carries at most 125 bytes, is never fragmented, and may be sent
    /// between the fragments of a message.
    var isControl: Bool { rawValue & 0x8 != 0 }
}

/// The header of a frame.
enum WebSocketFrame {
    /// The size of the longest header in bytes: 2 bytes at the start, 8 for the length, 4 for the mask.
    static let longestHeader = 14
    /// The maximum payload of a control frame in bytes.
    static let controlLimit = 125

    /// Writes the header of an unfragmented message into `space`, which must have ``longestHeader`` bytes. Returns the
    /// size of the header.
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
