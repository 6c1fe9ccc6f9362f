/// Finds the packets in the bytes of one direction of a connection. For each packet it reports the type and the two
/// bytes after the length, which are the packet id in all acknowledgements.
struct PacketScanner {
    private enum Place {
        case type
        case length(type: UInt8, value: Int, shift: Int)
        /// Inside the body: `position` bytes are read, `rest` bytes remain.
        case body(type: UInt8, position: Int, first: UInt8, rest: Int)
    }

    private var place = Place.type

    /// Scans the next bytes. Reports each packet with at least two bytes of body as soon as its id is complete.
    mutating func scan(_ bytes: UnsafeRawBufferPointer, _ found: (_ type: UInt8, _ id: UInt16) -> Void) {
        var index = 0
        while index < bytes.count {
            switch place {
            case .type:
                place = .length(type: bytes[index] >> 4, value: 0, shift: 0)
                index += 1
            case .length(let type, let value, let shift):
                let byte = bytes[index]
                let length = value | Int(byte & 0x7F) << shift
                if byte & 0x80 != 0 {
                    place = .length(type: type, value: length, shift: shift + 7)
                } else {
                    place = length == 0 ? .type : .body(type: type, position: 0, first: 0, rest: length)
                }
                index += 1
            case .body(let type, let position, let first, let rest) where position < 2:
                let byte = bytes[index]
                if position == 1 { found(type, UInt16(first) << 8 | UInt16(byte)) }
                place = rest == 1 ? .type : .body(type: type, position: position + 1, first: byte, rest: rest - 1)
                index += 1
            case .body(let type, let position, let first, let rest):
                let step = min(rest, bytes.count - index)
                place =
                    step == rest ? .type : .body(type: type, position: position + step, first: first, rest: rest - step)
                index += step
            }
        }
    }
}
