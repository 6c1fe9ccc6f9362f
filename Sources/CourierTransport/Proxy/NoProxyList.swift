/// The hosts to connect to without a proxy, as listed in the environment variable `no_proxy`. Commas or spaces separate
/// the entries.
///
/// | entry | matching hosts |
/// |---|---|
/// | `*` | every host |
/// | `example.com`, `.example.com`, `*.example.com` | this name and all its subdomains |
/// | `192.0.2.1`, `2001:db8::1`, `[2001:db8::1]` | this address |
/// | `192.0.2.0/24`, `2001:db8::/32` | all addresses in this network |
/// | an entry of rows 1 to 3, followed by `:8883` | the same, only for this port; IPv6 needs brackets |
///
/// Host names are not resolved. So an entry with an address matches a host only if the host is written as an address.
struct NoProxyList: Sendable {
    private enum Hosts: Equatable, Sendable {
        case all
        /// A domain name in lower case, without leading and trailing dots.
        case domain(String)
        case network(IPAddress, bitCount: Int)
    }

    private struct Entry: Sendable {
        let hosts: Hosts
        let port: UInt16?
    }

    private let entries: [Entry]

    /// Parses a list. Invalid entries are ignored.
    init(_ text: String) {
        // Scalars are compared, because Swift joins a comma and a following combining mark into one `Character`.
        entries = text.unicodeScalars.split { $0 == "," || $0.properties.isWhitespace }
            .compactMap { Self.entry(Substring($0)) }
    }

    /// Returns whether the list contains `host`, a name or an address without brackets, for this port.
    func contains(host: String, port: UInt16) -> Bool {
        let address = IPAddress(host)
        let name = Self.plain(host)
        return entries.contains { entry in
            guard entry.port == nil || entry.port == port else { return false }
            switch entry.hosts {
            case .all: return true
            case .domain(let domain): return address == nil && (name == domain || name.hasSuffix(".\(domain)"))
            case .network(let network, let bitCount):
                return address?.begins(like: network, bitCount: bitCount) ?? false
            }
        }
    }

    private static func entry(_ text: Substring) -> Entry? {
        if text.contains("/") {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, let address = IPAddress(withoutBrackets(parts[0])), let bitCount = Int(parts[1]),
                (0...address.bytes.count * 8).contains(bitCount)
            else { return nil }
            return Entry(hosts: .network(address, bitCount: bitCount), port: nil)
        }
        let (host, port) = parted(text)
        if host == "*" { return Entry(hosts: .all, port: port) }
        if let address = IPAddress(withoutBrackets(host)) {
            return Entry(hosts: .network(address, bitCount: address.bytes.count * 8), port: port)
        }
        let domain = plain(host.hasPrefix("*.") ? String(host.dropFirst(2)) : String(host))
        return domain.isEmpty ? nil : Entry(hosts: .domain(domain), port: port)
    }

    /// Splits an entry into host and port. An IPv6 address without brackets has colons, but no port.
    private static func parted(_ text: Substring) -> (Substring, UInt16?) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return (text, nil)
        }
        let host = text[..<colon]
        return host.contains(":") && !host.hasSuffix("]") ? (text, nil) : (host, port)
    }

    private static func withoutBrackets(_ text: Substring) -> String {
        text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : String(text)
    }

    private static func plain(_ name: String) -> String {
        var name = Substring(name.lowercased())
        while name.hasPrefix(".") { name.removeFirst() }
        while name.hasSuffix(".") { name.removeLast() }
        return String(name)
    }
}
