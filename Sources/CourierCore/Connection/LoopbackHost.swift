extension StringProtocol {
    /// Whether this host is the local machine: `localhost` in upper or lower case, an address of `127.0.0.0/8`, or
    /// `::1` with or without brackets. All other host names return `false` without a DNS query.
    package var isLoopbackHost: Bool {
        if lowercased() == "localhost" || self == "::1" || self == "[::1]" { return true }
        let parts = split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
