extension StringProtocol {
    /// Whether a host, with an IPv6 address in brackets or not, is this machine by its spelling: `localhost` in any case,
    /// an address of `127.0.0.0/8`, or `::1`. No name is looked up.
    package var isLoopbackHost: Bool {
        if lowercased() == "localhost" || self == "::1" || self == "[::1]" { return true }
        let parts = split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
