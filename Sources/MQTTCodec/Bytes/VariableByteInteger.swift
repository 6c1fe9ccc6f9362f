/// The encoding of lengths: seven bits a byte, lowest first, the high bit set while more follow (1.5.5).
package enum VariableByteInteger {
    /// The largest value: four bytes of seven bits.
    static let maximum: UInt32 = 268_435_455

    /// How many bytes `value` takes.
    package static func byteCount(_ value: Int) -> Int {
        switch value {
        case ..<0x80: 1
        case ..<0x4000: 2
        case ..<0x20_0000: 3
        default: 4
        }
    }

    /// What the bytes at `offset` turned out to be.
    enum Reading {
        /// They end before the integer does.
        case incomplete
        /// The fourth byte says that a fifth follows.
        case tooLong
        case value(UInt32, byteCount: Int)
    }

    /// Reads the integer at `offset`, looking at no byte at or behind `end`.
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
