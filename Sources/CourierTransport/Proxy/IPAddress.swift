/// An IPv4 or IPv6 address, without a zone.
struct IPAddress: Hashable, Sendable {
    /// 4 or 16 bytes, in the order of the network.
    let bytes: [UInt8]
    /// Its usual text, an IPv6 address without brackets.
    let text: String

    var isIPv6: Bool { bytes.count == 16 }

    /// Reads an address; `nil` for anything else, and for one with a zone.
    init?(_ text: String) {
        guard !text.contains("%"),
            let address = try? SocketAddress.lookUp(host: text, port: 0, isNumeric: true).first
        else { return nil }
        self.init(address)
    }

    /// The address within a socket's address; `nil` if that has none.
    init?(_ address: SocketAddress) {
        // Behind family and port; IPv6 also has a flow label in front.
        let range: Range<Int>
        switch address.kind {
        case .ipv4: range = 4..<8
        case .ipv6: range = 8..<24
        case .unix: return nil
        }
        guard address.bytes.count >= range.upperBound else { return nil }
        bytes = Array(address.bytes[range])
        text = address.host
    }

    /// Whether the first `bitCount` bits are those of `other`; never for an address of the other kind.
    func begins(like other: IPAddress, bitCount: Int) -> Bool {
        guard bytes.count == other.bytes.count, (0...bytes.count * 8).contains(bitCount) else { return false }
        return bytes.indices.allSatisfy { index in
            let kept = min(max(bitCount - index * 8, 0), 8)
            let mask = UInt8(truncatingIfNeeded: 0xFF00 >> kept)
            return bytes[index] & mask == other.bytes[index] & mask
        }
    }
}
