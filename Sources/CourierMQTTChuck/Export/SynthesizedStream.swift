import CourierCore

/// A generated TCP stream for one connection, as Ethernet frames in pcapng blocks.
struct SynthesizedStream {
    private enum Flags {
        static let syn: UInt8 = 0x02
        static let push: UInt8 = 0x08
        static let acknowledge: UInt8 = 0x10
    }

    /// One end of the stream: its addresses, its port and its next TCP sequence number.
    private struct End {
        let mac: [UInt8]
        let address: [UInt8]
        let port: UInt16
        var sequence: UInt32
        var identification: UInt16 = 1
    }

    /// The largest payload of a TCP segment in bytes, as usual on Ethernet.
    private static let segmentSize = 1_460
    /// The number of segments that are sent before an acknowledgement. Their payloads fit into the TCP window, because
    /// they have at most 46 KiB.
    private static let burst = 32

    private var client: End
    private var server: End

    /// Creates the stream with this number, counted from 0. Each stream has its own pair of client address and client
    /// port.
    init(number: Int) {
        // Client addresses are inside 10.0.0.0/8, without its first and last addresses. Each address uses 16,000 ports
        // from 49152 on, where operating systems assign client ports.
        let ports = 16_000
        let host = 2 + number / ports % 16_000_000
        client = End(
            mac: [2, 0, 0, 0, 0, 1],
            address: [10, UInt8(host >> 16 & 0xFF), UInt8(host >> 8 & 0xFF), UInt8(host & 0xFF)],
            port: UInt16(49_152 + number % ports), sequence: 1_000)
        server = End(mac: [2, 0, 0, 0, 0, 2], address: [192, 0, 2, 1], port: 1_883, sequence: 2_000)
    }

    /// Appends the three segments of the TCP handshake.
    mutating func open(at time: Int64, into blocks: inout [UInt8]) {
        // TCP options: a segment size of 1,460 bytes and a window scale of 7, so that no burst fills the window.
        let options: [UInt8] = [2, 4, 0x05, 0xB4, 3, 3, 7, 0]
        append(.outgoing, Flags.syn, [], options, at: time, into: &blocks)
        client.sequence &+= 1
        append(.incoming, Flags.syn | Flags.acknowledge, [], options, at: time, into: &blocks)
        server.sequence &+= 1
        append(.outgoing, Flags.acknowledge, [], [], at: time, into: &blocks)
    }

    /// Appends the TCP segments of some bytes, and the acknowledgements from the other end.
    mutating func send(
        _ bytes: [UInt8], _ direction: PacketBatch.Direction, at time: Int64, comment: String? = nil,
        into blocks: inout [UInt8]
    ) {
        var offset = 0
        var unacknowledged = 0
        while offset < bytes.count {
            let segment = Array(bytes[offset..<min(offset + Self.segmentSize, bytes.count)])
            offset += segment.count
            let flags = offset == bytes.count ? Flags.acknowledge | Flags.push : Flags.acknowledge
            append(
                direction, flags, segment, [], at: time, comment: offset == bytes.count ? comment : nil, into: &blocks)
            if direction == .outgoing {
                client.sequence &+= UInt32(segment.count)
            } else {
                server.sequence &+= UInt32(segment.count)
            }
            unacknowledged += 1
            if unacknowledged == Self.burst || offset == bytes.count {
                let answer: PacketBatch.Direction = direction == .outgoing ? .incoming : .outgoing
                append(answer, Flags.acknowledge, [], [], at: time, into: &blocks)
                unacknowledged = 0
            }
        }
    }

    private mutating func append(
        _ direction: PacketBatch.Direction, _ flags: UInt8, _ payload: [UInt8], _ options: [UInt8], at time: Int64,
        comment: String? = nil, into blocks: inout [UInt8]
    ) {
        let isOutgoing = direction == .outgoing
        let frame = Self.frame(
            from: isOutgoing ? client : server, to: isOutgoing ? server : client, flags, payload, options)
        if isOutgoing { client.identification &+= 1 } else { server.identification &+= 1 }
        var block = PcapngBlock(type: 6)
        let stamp = UInt64(max(0, time))
        block.append(0 as UInt32)
        block.append(UInt32(truncatingIfNeeded: stamp >> 32))
        block.append(UInt32(truncatingIfNeeded: stamp))
        block.append(UInt32(frame.count))
        block.append(UInt32(frame.count))
        block.append(frame)
        if let comment {
            block.appendOption(1, Array(comment.utf8))
            block.appendOption(0, [])
        }
        blocks += block.finished()
    }

    private static func frame(
        from sender: End, to receiver: End, _ flags: UInt8, _ payload: [UInt8], _ options: [UInt8]
    ) -> [UInt8] {
        var segment: [UInt8] = []
        segment += bigEndian(sender.port) + bigEndian(receiver.port)
        segment += bigEndian(sender.sequence)
        segment += bigEndian(flags & Flags.acknowledge == 0 ? 0 : receiver.sequence)
        segment += [UInt8((20 + options.count) / 4) << 4, flags]
        segment += bigEndian(UInt16(65_535)) + [0, 0, 0, 0]  // Window, checksum, urgent pointer.
        segment += options + payload
        let pseudoHeader = sender.address + receiver.address + [0, 6] + bigEndian(UInt16(segment.count))
        segment.replaceSubrange(16..<18, with: bigEndian(checksum(pseudoHeader + segment)))

        var header: [UInt8] = [0x45, 0] + bigEndian(UInt16(20 + segment.count))
        header += bigEndian(sender.identification) + [0x40, 0, 64, 6, 0, 0]  // The flag "don't fragment", 64 hops, TCP.
        header += sender.address + receiver.address
        header.replaceSubrange(10..<12, with: bigEndian(checksum(header)))
        return receiver.mac + sender.mac + [0x08, 0x00] + header + segment
    }

    private static func bigEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    /// Returns the Internet checksum of RFC 1071.
    private static func checksum(_ bytes: [UInt8]) -> UInt16 {
        var sum: UInt32 = 0
        var index = 0
        while index < bytes.count {
            let low = index + 1 < bytes.count ? bytes[index + 1] : 0
            sum += UInt32(bytes[index]) << 8 | UInt32(low)
            index += 2
        }
        while sum > 0xFFFF { sum = (sum & 0xFFFF) + (sum >> 16) }
        return ~UInt16(sum)
    }
}
