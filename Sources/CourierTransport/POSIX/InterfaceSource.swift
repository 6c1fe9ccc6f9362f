#if canImport(Glibc)
    import CLinux
    import Glibc
#elseif canImport(Musl)
    import CLinux
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Checks the networks at regular intervals, because POSIX reports no changes.
///
/// A network is available if an interface other than the loopback is up, has a carrier, and has an address that is not
/// link-local. Routes are not checked, so an interface without a route also counts.
final class InterfaceSource: NetworkSource {
    /// The default time between two checks.
    static let defaultInterval = Duration.seconds(5)

    private let loop: EventLoop
    private let interval: Duration
    private let check: () -> NetworkWatchState.Finding
    private var last: NetworkWatchState.Finding?
    private var timer: TimerToken?
    private var changed: (() -> Void)?

    /// Prepares a source on `loop`. Tests replace `check`.
    init(
        _ loop: EventLoop, interval: Duration = defaultInterval,
        check: @escaping () -> NetworkWatchState.Finding = InterfaceSource.checkInterfaces
    ) {
        self.loop = loop
        self.interval = interval
        self.check = check
    }

    func start(changed: @escaping () -> Void, failed: @escaping (_ number: Int32?) -> Void) {
        self.changed = changed
        arm()
    }

    func look(_ ended: @escaping (NetworkWatchState.Finding) -> Void) {
        let finding = check()
        last = finding
        ended(finding)
    }

    func stop() {
        changed = nil
        if let timer { loop.cancel(timer) }
        timer = nil
    }

    private func arm() {
        timer = loop.schedule(at: loop.clock.now + interval) { [weak self] in
            guard let self else { return }
            arm()
            // `changed` only reports a change. The watcher starts its own check after the settle time.
            if check() != last { changed?() }
        }
    }

    private static func checkInterfaces() -> NetworkWatchState.Finding {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return TransportError.isShortage(errno) ? .inconsistent : .unknown }
        defer { freeifaddrs(list) }
        var next = list
        while let interface = next?.pointee {
            if isOutward(UInt32(interface.ifa_flags)), let address = interface.ifa_addr, isWide(address) {
                return .seen(isAvailable: true)
            }
            next = interface.ifa_next
        }
        return .seen(isAvailable: false)
    }

    // Interface flags as numbers, which are the same on every platform. The named constants are not used, because two
    // Linux headers declare them with different types.
    private static let isUp: UInt32 = 0x1
    private static let isLoopback: UInt32 = 0x8
    private static let isRunning: UInt32 = 0x40

    /// True if the interface is up, has a carrier, and is not the loopback.
    private static func isOutward(_ flags: UInt32) -> Bool {
        flags & (isUp | isRunning | isLoopback) == isUp | isRunning
    }

    /// True if the address is an IPv4 address outside 169.254.0.0/16, or an IPv6 address outside fe80::/10.
    private static func isWide(_ address: UnsafePointer<sockaddr>) -> Bool {
        // In a socket address, the IP address follows the family, the port and, in IPv6, the flow label.
        let bytes = UnsafeRawPointer(address).assumingMemoryBound(to: UInt8.self)
        return switch Int32(address.pointee.sa_family) {
        case AF_INET: bytes[4] != 169 || bytes[5] != 254
        case AF_INET6: bytes[8] != 0xFE || bytes[9] & 0xC0 != 0x80
        default: false
        }
    }
}
