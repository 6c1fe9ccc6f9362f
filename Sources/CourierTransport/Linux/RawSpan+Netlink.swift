/// Reading a datagram of the kernel: numbers in the processor's byte order, and attributes. Nothing outside the span is
/// ever read: what is not there is `nil`, and a list ends where an element does not fit.
extension RawSpan {
    /// Messages, attributes and next hops begin at multiples of 4.
    static func netlinkAligned(_ length: Int) -> Int { (length + 3) & ~3 }

    func netlinkByte(at offset: Int) -> UInt8? { netlinkNumber(at: offset) }
    func netlinkUInt16(at offset: Int) -> UInt16? { netlinkNumber(at: offset) }
    func netlinkUInt32(at offset: Int) -> UInt32? { netlinkNumber(at: offset) }
    func netlinkInt32(at offset: Int) -> Int32? { netlinkNumber(at: offset) }

    private func netlinkNumber<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int) -> Number? {
        guard offset >= 0, offset <= byteCount, byteCount - offset >= MemoryLayout<Number>.size else { return nil }
        // Safe: within bounds, which the span checks again, and every pattern of bits is an integer.
        return unsafeLoadUnaligned(fromByteOffset: offset, as: Number.self)
    }

    /// Tells the attributes that begin at `start`: `rtattr` has length and type, then the value.
    func netlinkAttributes(from start: Int, _ tell: (_ type: UInt16, _ value: RawSpan) -> Void) {
        var start = start
        while let length = netlinkUInt16(at: start).map(Int.init), let type = netlinkUInt16(at: start + 2),
            length >= 4, length <= byteCount - start
        {
            // The two upper bits say how the value is written, and are not part of the type.
            tell(type & 0x3FFF, extracting(start + 4..<start + length))
            start += Self.netlinkAligned(length)
        }
    }

    /// Tells the links of a multipath route: `rtnexthop` has length, flags, weight and link, then attributes.
    func netlinkNextHops(_ tell: (_ link: Int32) -> Void) {
        var start = 0
        while let length = netlinkUInt16(at: start).map(Int.init), let link = netlinkInt32(at: start + 4),
            length >= 8, length <= byteCount - start
        {
            tell(link)
            start += Self.netlinkAligned(length)
        }
    }
}
