@testable import CourierTransport

/// A frame that a peer may send, correct or wrong.
struct RawFrame {
    var isFinal = true
    var reserved: UInt8 = 0
    var opcode: UInt8 = 0x2
    var mask: [UInt8]?
    /// The number of bytes that encode the length: 0, 2 or 8. The default is the smallest possible number.
    var lengthSize: Int?
    /// The length in the header. The default is the length of the payload.
    var claimedLength: UInt64?
    var payload: [UInt8] = []

    var bytes: [UInt8] {
        let length = claimedLength ?? UInt64(payload.count)
        let size = lengthSize ?? (length < 126 ? 0 : length <= 0xFFFF ? 2 : 8)
        let maskBit: UInt8 = mask == nil ? 0 : 0x80
        var bytes = [(isFinal ? 0x80 : 0) | reserved << 4 | opcode]
        bytes.append(maskBit | (size == 0 ? UInt8(length) : size == 2 ? 126 : 127))
        for index in (0..<size).reversed() { bytes.append(UInt8(truncatingIfNeeded: length >> (8 * index))) }
        guard let mask else { return bytes + payload }
        return bytes + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
    }

    static func binary(_ payload: [UInt8], isFinal: Bool = true) -> [UInt8] {
        RawFrame(isFinal: isFinal, payload: payload).bytes
    }
    static func text(_ payload: [UInt8], isFinal: Bool = true) -> [UInt8] {
        RawFrame(isFinal: isFinal, opcode: 0x1, payload: payload).bytes
    }
    static func text(_ text: String) -> [UInt8] { Self.text(Array(text.utf8)) }
    static func continuation(_ payload: [UInt8], isFinal: Bool) -> [UInt8] {
        RawFrame(isFinal: isFinal, opcode: 0x0, payload: payload).bytes
    }
    static func ping(_ payload: [UInt8] = []) -> [UInt8] { RawFrame(opcode: 0x9, payload: payload).bytes }
    static func pong(_ payload: [UInt8] = []) -> [UInt8] { RawFrame(opcode: 0xA, payload: payload).bytes }
    static func close(_ status: Int? = nil, _ reason: [UInt8] = []) -> [UInt8] {
        let number = status.map { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] } ?? []
        return RawFrame(opcode: 0x8, payload: number + reason).bytes
    }
}
