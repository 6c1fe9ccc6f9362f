/// Reads and writes varints, the variable-length integers that protobuf uses for tags and lengths.
enum Varint {
    /// Appends a number as a varint.
    static func append(_ value: UInt64, to bytes: inout [UInt8]) {
        var value = value
        while value >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        bytes.append(UInt8(value))
    }

    /// Returns the number at the start of the bytes, and its length in bytes. Returns `nil` if the number does not
    /// end within the bytes or within ten bytes.
    static func read(_ bytes: some Collection<UInt8>) -> (value: UInt64, length: Int)? {
        var value: UInt64 = 0
        var length = 0
        for byte in bytes.prefix(10) {
            // Only the lowest bit of the tenth byte fits into 64 bits. The shift drops the other bits of this byte.
            value |= UInt64(byte & 0x7F) << UInt64(length * 7)
            length += 1
            if byte < 0x80 { return (value, length) }
        }
        return nil
    }
}

extension ProtobufUnknownFields {
    /// The field number and the wire type of the first field, and the length of its tag in bytes; `nil` if there are no
    /// fields.
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
