#if os(Linux)
    /// Reads values from a netlink datagram of the kernel: numbers in the processor's byte order, and attributes.
    ///
    /// No byte outside the span is read. A number that is not completely inside the span is `nil`. A list ends before the
    /// first element that is not completely inside the span.
    extension RawSpan {
        /// Rounds a length up to a multiple of 4, because netlink messages, attributes and next hops begin at multiples
        /// of 4.
        static func netlinkAligned(_ length: Int) -> Int { (length + 3) & ~3 }

        func netlinkByte(at offset: Int) -> UInt8? { netlinkNumber(at: offset) }
        func netlinkUInt16(at offset: Int) -> UInt16? { netlinkNumber(at: offset) }
        func netlinkUInt32(at offset: Int) -> UInt32? { netlinkNumber(at: offset) }
        func netlinkInt32(at offset: Int) -> Int32? { netlinkNumber(at: offset) }

        private func netlinkNumber<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int) -> Number? {
            guard offset >= 0, offset <= byteCount, byteCount - offset >= MemoryLayout<Number>.size else { return nil }
            // Safe: the offset is within bounds, the span checks this again, and every bit pattern is a valid integer.
            return unsafeLoadUnaligned(fromByteOffset: offset, as: Number.self)
        }

        /// Passes each attribute from `start` on to `tell`. An `rtattr` holds length and type, then the value.
        func netlinkAttributes(from start: Int, _ tell: (_ type: UInt16, _ value: RawSpan) -> Void) {
            var start = start
            while let length = netlinkUInt16(at: start).map(Int.init), let type = netlinkUInt16(at: start + 2),
                length >= 4, length <= byteCount - start
            {
                // The two upper bits describe the value's format and are not part of the type.
                tell(type & 0x3FFF, extracting(start + 4..<start + length))
                start += Self.netlinkAligned(length)
            }
        }

        /// Passes each link of a multipath route to `tell`. An `rtnexthop` holds length, flags, weight and link, then
        /// attributes.
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
#endif
