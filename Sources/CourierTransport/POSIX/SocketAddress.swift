#if canImport(Glibc)
    import CLinux
    import Glibc
#elseif canImport(Musl)
    import CLinux
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A socket address of the operating system, with a text for messages.
struct SocketAddress: Sendable {
    enum Kind: Sendable { case ipv4, ipv6, unix }

    let kind: Kind
    /// The bytes of the `sockaddr`.
    let bytes: [UInt8]
    let text: String

    var family: Int32 {
        switch kind {
        case .ipv4: AF_INET
        case .ipv6: AF_INET6
        case .unix: AF_UNIX
        }
    }

    private init(kind: Kind, bytes: [UInt8], text: String) {
        self.kind = kind
        self.bytes = bytes
        self.text = text
    }

    /// Creates the address of a Unix socket. Throws if the path is empty, is too long (on Linux, more than 107
    /// bytes), or contains a NUL.
    init(unixPath path: String) throws(TransportError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let utf8 = Array(path.utf8)
        let limit = MemoryLayout.size(ofValue: address.sun_path) - 1
        guard (1...limit).contains(utf8.count), !utf8.contains(0) else {
            throw TransportError(
                .invalidConfiguration,
                "a Unix socket's path must have 1 to \(limit) bytes without NUL; this path has \(utf8.count) bytes")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: utf8) }
        #if canImport(Darwin)
            address.sun_len = UInt8(MemoryLayout.size(ofValue: address))
        #endif
        self.init(kind: .unix, bytes: withUnsafeBytes(of: address) { Array($0) }, text: "unix:\(path)")
    }

    /// Creates an address from a `sockaddr` of `getaddrinfo` or `getsockname`; `nil` if the `sockaddr` is neither IPv4
    /// nor IPv6.
    init?(_ raw: UnsafeRawPointer, length: UInt32) {
        let kind: Kind
        switch Int32(raw.loadUnaligned(as: sockaddr.self).sa_family) {
        case AF_INET: kind = .ipv4
        case AF_INET6: kind = .ipv6
        default: return nil
        }
        let bytes = Array(UnsafeRawBufferPointer(start: raw, count: Int(length)))
        var host = [CChar](repeating: 0, count: 64)
        let isNamed =
            getnameinfo(
                raw.assumingMemoryBound(to: sockaddr.self), length, &host, socklen_t(host.count), nil, 0,
                NI_NUMERICHOST) == 0
        let name = isNamed ? String(decoding: host.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self) : "?"
        let port = Self.port(of: bytes)
        self.init(kind: kind, bytes: bytes, text: kind == .ipv6 ? "[\(name)]:\(port)" : "\(name):\(port)")
    }

    /// The address without its port, such as `::1`. For a Unix socket, it is the path.
    var host: String {
        switch kind {
        case .ipv4: String(text.prefix { $0 != ":" })
        case .ipv6: String(text.dropFirst().prefix { $0 != "]" })
        case .unix: String(text.dropFirst("unix:".count))
        }
    }

    /// The TCP port; 0 for a Unix socket.
    var port: UInt16 { kind == .unix ? 0 : Self.port(of: bytes) }

    /// Returns an IPv4 address in network byte order; `nil` if `text` is not an IPv4 address.
    static func parseIPv4(_ text: String) -> UInt32? {
        var parsed = in_addr()
        return inet_pton(AF_INET, text, &parsed) == 1 ? parsed.s_addr : nil
    }

    /// Passes the address to a system call.
    func withSystemAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        bytes.withUnsafeBytes { raw in
            raw.baseAddress.map { body($0.assumingMemoryBound(to: sockaddr.self), socklen_t(raw.count)) } ?? -EINVAL
        }
    }

    // In IPv4 and IPv6 addresses, the port follows the family in big-endian byte order.
    private static func port(of bytes: [UInt8]) -> UInt16 { UInt16(bytes[2]) << 8 | UInt16(bytes[3]) }
}

extension SocketAddress {
    /// Returns the addresses of a host from the operating system. The call may block. If `isNumeric` is true, `host`
    /// must be an address. The call then only parses the address and does not block.
    ///
    /// - Throws: ``TransportError/Code/hostNotFound`` or ``TransportError/Code/nameResolutionFailed``.
    static func lookUp(
        host: String, port: UInt16, isNumeric: Bool, isPassive: Bool = false
    ) throws(TransportError) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Sockets.stream
        hints.ai_flags = AI_NUMERICSERV | (isNumeric ? AI_NUMERICHOST : 0) | (isPassive ? AI_PASSIVE : 0)
        var list: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(host, String(port), &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        guard result == 0 else {
            throw problem(result, errno, of: host)
        }
        var found: [SocketAddress] = []
        var next = list
        while let info = next?.pointee {
            if let raw = info.ai_addr, let address = SocketAddress(raw, length: UInt32(info.ai_addrlen)) {
                found.append(address)
            }
            next = info.ai_next
        }
        guard !found.isEmpty else {
            throw TransportError(.hostNotFound, "the host name \(quoted(host)) has no IPv4 or IPv6 address")
        }
        return found
    }

    private static func problem(_ result: Int32, _ errno: Int32, of host: String) -> TransportError {
        let words = result == EAI_SYSTEM ? describe(errno: errno) : String(cString: gai_strerror(result))
        switch result {
        case EAI_NONAME, noData, noAddressOfFamily:
            return TransportError(
                .hostNotFound, "the host name \(quoted(host)) does not exist (\(words)); correct its spelling")
        default:
            return TransportError(
                .nameResolutionFailed, "the address of the host name \(quoted(host)) could not be looked up: \(words)",
                errno: result == EAI_SYSTEM ? errno : nil)
        }
    }

    // The values of `EAI_NODATA` and `EAI_ADDRFAMILY` as numbers, because some C libraries do not define these names.
    #if canImport(Darwin)
        private static let (noData, noAddressOfFamily): (Int32, Int32) = (7, 1)
    #else
        private static let (noData, noAddressOfFamily): (Int32, Int32) = (-5, -9)
    #endif

    private static func quoted(_ host: String) -> String { "“\(host)”" }
}
