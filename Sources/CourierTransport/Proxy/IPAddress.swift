/// An IPv4 or IPv6 address, without a zone.
struct IPAddress: Hashable, Sendable {
    /// The 4 or 16 bytes of the address, in network byte order.
    let bytes: [UInt8]
    /// The usual text of the address. An IPv6 address has no brackets.
    let text: String

    var isIPv6: Bool { bytes.count == 16 }

    /// Parses an IP address. Returns `nil` for any other text, and for an address with a zone, such as `fe80::1%eth0`.
    init?(_ text: String) {
        guard !text.contains("%"),
            let address = try? SocketAddress.lookUp(host: text, port: 0, isNumeric: true).first
        else { return nil }
        self.init(address)
    }

    /// Extracts the IP address from a socket address. Returns `nil` for a Unix socket address.
    init?(_ address: SocketAddress) {
        // The IP address follows the family and the port. In IPv6, the flow label also precedes the address.
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

    /// Returns whether the first `bitCount` bits are equal in both addresses. Returns `false` if one address is IPv4
    /// and the other is IPv6.
    func begins(like other: IPAddress, bitCount: Int) -> Bool {
        guard bytes.count == other.bytes.count, (0...bytes.count * 8).contains(bitCount) else { return false }
        return bytes.indices.allSatisfy { index in
            let kept = min(max(bitCount - index * 8, 0), 8)
            let mask = UInt8(truncatingIfNeeded: 0xFF00 >> kept)
            return bytes[index] & mask == other.bytes[index] & mask
        }
    }
}
