/// The variable byte integer encoding (MQTT 5.0, section 1.5.5): seven bits per byte, lowest bits first. The high bit
/// is set if another byte follows.
package enum VariableByteInteger {
    /// The largest value, which fills four bytes of seven bits.
    static let maximum: UInt32 = 268_435_455

    /// Returns the number of bytes that the shortest form of `value` needs.
    package static func byteCount(_ value: Int) -> Int {
        switch value {
        case ..<0x80: 1
        case ..<0x4000: 2
        case ..<0x20_0000: 3
        default: 4
        }
    }

    /// The result of reading an integer.
    enum Reading {
        /// The bytes end before the integer is complete.
        case incomplete
        /// The integer has more than four bytes, which is not allowed.
        case tooLong
        case value(UInt32, byteCount: Int)
    }

    /// Reads the integer at `offset`. Only bytes before `end` are read.
    @inline(__always)
    static func read(_ bytes: UnsafeRawBufferPointer, at offset: Int, end: Int) -> Reading {
        var value: UInt32 = 0
        var shift: UInt32 = 0
        var index = offset
        while index < end {
            let byte = bytes[index]
            value |= UInt32(byte & 0x7F) &<< shift
            index &+= 1
            if byte < 0x80 { return .value(value, byteCount: index &- offset) }
            if shift == 21 { return .tooLong }
            shift &+= 7
        }
        return .incomplete
    }
}
