#if canImport(Glibc)
    import CLinux
    import Glibc
#elseif canImport(Musl)
    import CLinux
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The operations on sockets and other descriptors, except the frequent reads and writes.
///
/// If a description names no result, the function returns 0 or a negative error number.
enum Sockets {
    #if canImport(Glibc)
        /// The type of a stream socket.
        static let stream = Int32(SOCK_STREAM.rawValue)
    #else
        /// The type of a stream socket.
        static let stream = SOCK_STREAM
    #endif

    static func close(_ descriptor: Int32) { closeDescriptor(descriptor) }

    /// Ends the output of a socket. The peer then reads the end of the stream.
    static func closeOutput(_ socket: Int32) { _ = shutdown(socket, Int32(SHUT_WR)) }

    /// Makes a later close send a TCP reset instead of an orderly end.
    static func resetOnClose(_ socket: Int32) {
        var value = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout.size(ofValue: value)))
    }

    static func setNonblocking(_ descriptor: Int32) -> Int32 {
        let flags = fcntl(descriptor, F_GETFL)
        if flags < 0 { return -errno }
        if flags & O_NONBLOCK != 0 { return 0 }
        return fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) < 0 ? -errno : 0
    }

    /// Makes writes to a socket without a reader return EPIPE instead of raising a signal. On other platforms, each
    /// write has a flag for this purpose.
    static func preventSignal(_ descriptor: Int32) {
        #if canImport(Darwin)
            _ = setOption(descriptor, SOL_SOCKET, SO_NOSIGPIPE, 1)
        #endif
    }

    static func isSocket(_ descriptor: Int32) -> Bool { option(descriptor, SO_TYPE).number == 0 }

    /// Returns and clears the pending error number of a socket, or 0 if no error is pending. If the query fails,
    /// returns the query's error number.
    static func pendingError(_ socket: Int32) -> Int32 {
        let (value, number) = option(socket, SO_ERROR)
        return number == 0 ? value : number
    }

    static func isConnected(_ socket: Int32) -> Bool { address(of: socket, getpeername) != nil }

    /// Returns the local address of a TCP socket; `nil` for other sockets.
    static func localAddress(_ socket: Int32) -> SocketAddress? {
        address(of: socket, getsockname).flatMap { bytes in
            bytes.withUnsafeBytes { raw in
                raw.baseAddress.flatMap { SocketAddress($0, length: UInt32(raw.count)) }
            }
        }
    }

    static func bind(_ socket: Int32, _ address: SocketAddress) -> Int32 {
        address.withSystemAddress { bindSocket(socket, $0, $1) < 0 ? -errno : 0 }
    }

    static func listen(_ socket: Int32) -> Int32 { listenAt(socket, SOMAXCONN) < 0 ? -errno : 0 }

    /// Removes the file of a Unix socket.
    static func removeFile(_ path: String) { unlink(path) }

    private static func option(_ socket: Int32, _ name: Int32) -> (value: Int32, number: Int32) {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout.size(ofValue: value))
        return getsockopt(socket, SOL_SOCKET, name, &value, &size) < 0 ? (0, errno) : (value, 0)
    }

    private static func address(
        of socket: Int32, _ query: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> [UInt8]? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout.size(ofValue: storage))
        let result = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { query(socket, $0, &length) }
        }
        guard result == 0 else { return nil }
        return withUnsafeBytes(of: storage) { Array($0.prefix(Int(length))) }
    }
}

/// The options of sockets.
extension Sockets {
    static func setOption(_ socket: Int32, _ level: Int32, _ name: Int32, _ value: Int32) -> Int32 {
        var value = value
        let size = socklen_t(MemoryLayout.size(ofValue: value))
        return setsockopt(socket, level, name, &value, size) < 0 ? -errno : 0
    }

    /// Lets a listener use its port while old connections of the port still end.
    static func reuseAddress(_ socket: Int32) { _ = setOption(socket, SOL_SOCKET, SO_REUSEADDR, 1) }

    /// Sends small writes at once.
    static func setNoDelay(_ socket: Int32) { _ = setOption(socket, Int32(IPPROTO_TCP), TCP_NODELAY, 1) }

    /// Turns on TCP keep-alive: the system sends a probe after `idle` seconds without traffic. If the peer does not
    /// answer, three more probes follow, each after a quarter of this time.
    static func setKeepAlive(_ socket: Int32, idle: Int32) {
        #if canImport(Darwin)
            let idleOption = TCP_KEEPALIVE
        #else
            let idleOption = TCP_KEEPIDLE
        #endif
        _ = setOption(socket, SOL_SOCKET, SO_KEEPALIVE, 1)
        _ = setOption(socket, Int32(IPPROTO_TCP), idleOption, idle)
        _ = setOption(socket, Int32(IPPROTO_TCP), TCP_KEEPINTVL, max(1, idle / 4))
        _ = setOption(socket, Int32(IPPROTO_TCP), TCP_KEEPCNT, 4)
    }

    /// Lets a socket use only the network interface with this name.
    static func bind(_ socket: Int32, toInterface name: String) -> Int32 {
        #if os(Linux)
            return setsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, name, socklen_t(name.utf8.count + 1)) < 0
                ? -errno : 0
        #elseif canImport(Darwin)
            let index = Int32(bitPattern: if_nametoindex(name))
            if index == 0 { return -ENODEV }
            // A socket accepts only the option of its own address family, so both options are tried.
            if setOption(socket, Int32(IPPROTO_IP), IP_BOUND_IF, index) == 0 { return 0 }
            return setOption(socket, Int32(IPPROTO_IPV6), IPV6_BOUND_IF, index)
        #else
            return -ENOTSUP
        #endif
    }

    /// Lets the system choose the port of a bound socket when the socket connects. So more than 65,535 connections to
    /// several brokers are possible, because connections to different brokers can use the same port. Only Linux has
    /// this option.
    static func choosePortWhenConnecting(_ socket: Int32) {
        #if os(Linux)
            _ = setOption(socket, Int32(IPPROTO_IP), IP_BIND_ADDRESS_NO_PORT, 1)
        #endif
    }
}

// These functions are outside `Sockets`, because `Sockets` has functions with the same names as the system functions.
private func closeDescriptor(_ descriptor: Int32) { close(descriptor) }
private func listenAt(_ socket: Int32, _ backlog: Int32) -> Int32 { listen(socket, backlog) }
private func bindSocket(_ socket: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    bind(socket, address, length)
}
