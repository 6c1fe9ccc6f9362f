/// The implementation of the operating-system services that differ between platforms.
///
/// To support another operating system, add a case, and implement the functions of ``Platform`` in a folder beside
/// `POSIX` and `Linux`. The folder `POSIX` also contains the services that every platform shares: descriptors,
/// addresses, files, threads and clocks.
enum Platform: String, CaseIterable, Sendable {
    #if os(Linux)
        /// The calls of Linux: epoll, eventfd, timerfd, netlink and accept4.
        case linux
    #endif
    /// Only calls of POSIX, such as poll, pipe and fcntl. This case is correct on every platform, but slower.
    case posix

    /// The name of the environment variable that chooses the platform. Tests use this variable.
    static let variable = "COURIER_PLATFORM"

    /// The platform of this process, or the error that names a wrong value of the environment variable.
    static let chosen = Result { () throws(TransportError) in
        try named(SystemEnvironment.value(of: variable))
    }

    /// The platform of this process. If the environment variable has a wrong value, no event loop starts, and this
    /// value is the operating system's own platform.
    static let current = (try? chosen.get()) ?? own

    #if os(Linux)
        private static let own = Platform.linux
    #else
        private static let own = Platform.posix
    #endif

    /// Returns the platform with this name; the operating system's own platform for `nil`.
    ///
    /// - Throws: ``TransportError/Code/invalidConfiguration`` if this operating system has no platform of this name.
    static func named(_ name: String?) throws(TransportError) -> Platform {
        guard let name else { return own }
        if let platform = Platform(rawValue: name) { return platform }
        let names = allCases.map(\.rawValue).joined(separator: " or ")
        throw TransportError(
            .invalidConfiguration,
            "the environment variable \(variable) is “\(name)”, which names no platform; set it to \(names), or remove it"
        )
    }
}

/// The services that each platform must implement.
extension Platform {
    /// Returns a new, non-blocking stream socket that no child process inherits, or a negative error number.
    func makeStreamSocket(family: Int32) -> Int32 {
        switch self {
        #if os(Linux)
            case .linux: LinuxSockets.makeStream(family: family)
        #endif
        case .posix: POSIXSockets.makeStream(family: family)
        }
    }

    /// Accepts a connection. Returns its non-blocking socket, which no child process inherits, or a negative error
    /// number.
    func accept(_ listener: Int32) -> Int32 {
        switch self {
        #if os(Linux)
            case .linux: LinuxSockets.accept(listener)
        #endif
        case .posix: POSIXSockets.accept(listener)
        }
    }

    /// Returns the source of network changes for a ``NetworkWatcher`` on `loop`.
    func makeNetworkSource(on loop: EventLoop) -> any NetworkSource {
        switch self {
        #if os(Linux)
            case .linux: NetlinkSource(loop)
        #endif
        case .posix: InterfaceSource(loop)
        }
    }

    /// Returns the alarm that ends when the machine resumes, for a ``SuspendWatcher`` on `loop`.
    func makeResumeAlarm(on loop: EventLoop) -> any ResumeAlarm {
        switch self {
        #if os(Linux)
            case .linux: WallClockAlarm(loop)
        #endif
        case .posix: IntervalAlarm(loop)
        }
    }
}
