/// The hosts to reach without a proxy, as the variable `no_proxy` lists them: parted by commas or spaces.
///
/// | entry | stands for |
/// |---|---|
/// | `*` | every host |
/// | `example.com`, `.example.com`, `*.example.com` | that name and all names below it |
/// | `192.0.2.1`, `2001:db8::1`, `[2001:db8::1]` | that address |
/// | `192.0.2.0/24`, `2001:db8::/32` | the addresses that begin like it |
/// | any of the first three with `:8883` behind it | the same at this port; an IPv6 address in brackets then |
///
/// A name is compared as it is, and never looked up: an entry with an address is for hosts that are given by address.
struct NoProxyList: Sendable {
    private enum Hosts: Equatable, Sendable {
        case all
        /// In lower case, without dots around it.
        case domain(String)
        case network(IPAddress, bitCount: Int)
    }

    private struct Entry: Sendable {
        let hosts: Hosts
        let port: UInt16?
    }

    private let entries: [Entry]

    /// Reads a list; what is no entry is left out.
    init(_ text: String) {
        entries = text.split { $0 == "," || $0.isWhitespace }.compactMap { Self.entry($0) }
    }

    /// Whether `host`, a name or an address without brackets, is in the list.
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

    /// Host and port; an IPv6 address without brackets has colons, but no port.
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
