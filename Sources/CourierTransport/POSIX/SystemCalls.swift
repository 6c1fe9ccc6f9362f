#if canImport(Glibc)
    import CLinux
    import Glibc
#elseif canImport(Musl)
    import CLinux
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The operating-system calls that streams use often. A test replaces them to simulate short reads and writes, and
/// interruptions.
///
/// Each closure returns the call's result, or a negative error number. All connections share one instance.
final class SystemCalls: Sendable {
    typealias Read = @Sendable (Int32, UnsafeMutableRawPointer, Int) -> Int
    typealias Write = @Sendable (Int32, UnsafeRawPointer, Int) -> Int

    let receive: Read
    let send: Write
    let read: Read
    let write: Write
    let accept: @Sendable (Int32) -> Int32
    let connect: @Sendable (Int32, UnsafeRawPointer, UInt32) -> Int32
    /// True if a socket is empty after a read that returned fewer bytes than requested, as epoll(7) states in question
    /// 9. Then no further read is needed, which saves one system call per wake-up. With poll(2), the next wait reports
    /// bytes that remain. In tests that shorten reads, a short read does not mean an empty socket, so they must set
    /// `false`.
    let shortReadsEmptySockets: Bool

    /// Creates an instance. Each closure makes the call of the operating system, unless a parameter replaces the
    /// closure.
    init(
        receive: @escaping Read = receiveOnce,
        send: @escaping Write = sendOnce,
        read: @escaping Read = readOnce,
        write: @escaping Write = writeOnce,
        accept: @escaping @Sendable (Int32) -> Int32 = { Platform.current.accept($0) },
        connect: @escaping @Sendable (Int32, UnsafeRawPointer, UInt32) -> Int32 = connectOnce,
        shortReadsEmptySockets: Bool = true
    ) {
        self.receive = receive
        self.send = send
        self.read = read
        self.write = write
        self.accept = accept
        self.connect = connect
        self.shortReadsEmptySockets = shortReadsEmptySockets
    }

    static let real = SystemCalls()
}

/// The flags of each `send`. A write to a socket that the peer no longer reads must return EPIPE and raise no signal.
#if canImport(Darwin)
    private let sendFlags: Int32 = 0  // `Sockets.preventSignal` has set the socket's own option.
#else
    private let sendFlags = Int32(MSG_NOSIGNAL)
#endif

// Each of the following functions makes its system call once, and returns the result or a negative error number.
private func receiveOnce(_ socket: Int32, _ space: UnsafeMutableRawPointer, _ count: Int) -> Int {
    let result = recv(socket, space, count, 0)
    return result < 0 ? -Int(errno) : result
}

private func sendOnce(_ socket: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    let result = send(socket, bytes, count, sendFlags)
    return result < 0 ? -Int(errno) : result
}

private func readOnce(_ descriptor: Int32, _ space: UnsafeMutableRawPointer, _ count: Int) -> Int {
    let result = read(descriptor, space, count)
    return result < 0 ? -Int(errno) : result
}

private func writeOnce(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    let result = write(descriptor, bytes, count)
    return result < 0 ? -Int(errno) : result
}

private func connectOnce(_ socket: Int32, _ address: UnsafeRawPointer, _ length: UInt32) -> Int32 {
    connect(socket, address.assumingMemoryBound(to: sockaddr.self), length) < 0 ? -errno : 0
}
