import Glibc

/// The addresses of a host, as the operating system knows them.
enum NameLookUp {
    /// There is none.
    struct Failure: Error {
        /// The operating system's words.
        let reason: String
    }

    /// Whether a host is an address already.
    static func isAddress(_ host: String) -> Bool { (try? addresses(of: host, flags: AI_NUMERICHOST)) != nil }

    /// Asks the operating system, which may take long.
    ///
    /// - Returns: The addresses in the operating system's order, each once.
    static func addresses(of host: String) throws(Failure) -> [String] { try addresses(of: host, flags: 0) }

    private static func addresses(of host: String, flags: Int32) throws(Failure) -> [String] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = flags
        var list: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(host, nil, &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        guard result == 0 else { throw Failure(reason: String(cString: gai_strerror(result))) }
        var found: [String] = []
        var next = list
        while let info = next?.pointee {
            var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            if getnameinfo(
                info.ai_addr, info.ai_addrlen, &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST) == 0
            {
                let text = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
                if !found.contains(text) { found.append(text) }
            }
            next = info.ai_next
        }
        if found.isEmpty { throw Failure(reason: "no IPv4 or IPv6 address") }
        return found
    }
}
