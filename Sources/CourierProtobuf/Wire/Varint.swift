/// The variable-length numbers in which protobuf writes tags and lengths.
enum Varint {
    /// Appends a number.
    static func append(_ value: UInt64, to bytes: inout [UInt8]) {
        var value = value
        while value >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        bytes.append(UInt8(value))
    }

    /// The number at the start of the bytes and how many it takes; `nil` if it does not end within them or within ten.
    static func read(_ bytes: some Collection<UInt8>) -> (value: UInt64, length: Int)? {
        var value: UInt64 = 0
        var length = 0
        for byte in bytes.prefix(10) {
            value |= UInt64(byte & 0x7F) << UInt64(length * 7)  // The tenth byte has one bit left; the rest falls off.
            length += 1
            if byte < 0x80 { return (value, length) }
        }
        return nil
    }
}

extension ProtobufUnknownFields {
    /// The tag of the first field.
    var head: (number: UInt32, wireType: UInt32, length: Int)? {
        Varint.read(bytes).map {
            (UInt32(truncatingIfNeeded: $0.value >> 3), UInt32(truncatingIfNeeded: $0.value & 7), $0.length)
        }
    }

    mutating func append(number: UInt32, wireType: UInt32, data: UnsafePointer<UInt8>?, count: Int) {
        Varint.append(UInt64(number) << 3 | UInt64(wireType), to: &bytes)
        bytes.append(contentsOf: UnsafeBufferPointer(start: data, count: count))
    }
}
