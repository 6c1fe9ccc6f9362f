/// The implementation of the operating-system services that differ between platforms.
///
/// A port adds a case, and implements the functions of ``Platform`` in a folder beside `POSIX` and `Linux`. The folder
/// `POSIX` also contains the services that every platform shares: descriptors, addresses, files, threads and clocks.
enum Platform: Sendable {
    #if os(Linux)
        /// The calls of Linux: epoll, eventfd, timerfd, netlink and accept4.
        case linux
    #endif

    /// The platform of this process.
    static let current = Platform.linux
}

/// The services that a port must implement.
extension Platform {
    /// Returns a new, non-blocking stream socket that no child process inherits, or a negative error number.
    func makeStreamSocket(family: Int32) -> Int32 {
        switch self {
        #if os(Linux)
            case .linux: LinuxSockets.makeStream(family: family)
        #endif
        }
    }

    /// Accepts a connection. Returns its non-blocking socket, which no child process inherits, or a negative error
    /// number.
    func accept(_ listener: Int32) -> Int32 {
        switch self {
        #if os(Linux)
            case .linux: LinuxSockets.accept(listener)
        #endif
        }
    }

    /// Returns the source of network changes for a ``NetworkWatcher`` on `loop`.
    func makeNetworkSource(on loop: EventLoop) -> any NetworkSource {
        switch self {
        #if os(Linux)
            case .linux: NetlinkSource(loop)
        #endif
        }
    }

    /// Returns the alarm that ends when the machine resumes, for a ``SuspendWatcher`` on `loop`.
    func makeResumeAlarm(on loop: EventLoop) -> any ResumeAlarm {
        switch self {
        #if os(Linux)
            case .linux: WallClockAlarm(loop)
        #endif
        }
    }
}
