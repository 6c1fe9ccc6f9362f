import Foundation

/// The default route of the machine, which identifies the current network.
///
/// The link and the gateway's IP address do not identify a network, because many homes have `wlan0` and `192.168.1.1`.
/// So the route includes the gateway's hardware address, if the system knows that address.
struct DefaultRoute: Hashable, Sendable {
    /// The name of the link, such as `wlan0`.
    let link: String
    /// The gateway's IP address as the system writes it; `nil` if the link has no gateway, as in a tunnel.
    let gateway: String?
    /// The gateway's hardware address; `nil` if the system does not know it.
    var hardwareAddress: String?

    var name: String {
        [link, gateway.map { "via \($0)" }, hardwareAddress.map { "at \($0)" }].compactMap(\.self)
            .joined(separator: " ")
    }
}

extension DefaultRoute {
    /// The kernel's flag for a usable route (RTF_UP).
    private static let isUp = 1
    /// The metric that the kernel gives to an unreachable route.
    private static let unusable = UInt32.max

    /// Reads the default route with the lowest metric from the kernel's table of IPv4 routes (`/proc/net/route`).
    /// Returns `nil` if there is no default route. `neighbours` is the table with the hardware addresses
    /// (`/proc/net/arp`).
    init?(table: String, neighbours: String) {
        typealias Row = (route: DefaultRoute, metric: UInt32)
        let rows = table.split(separator: "\n").dropFirst().compactMap { line -> Row? in
            // The columns: link, destination, gateway, flags, references, use, metric, mask.
            let fields = line.split { $0 == "\t" || $0 == " " }
            guard fields.count >= 8, Self.isZero(fields[1]), Self.isZero(fields[7]), Self.isInUse(fields[3]),
                let metric = UInt32(fields[6])
            else { return nil }
            return (DefaultRoute(link: String(fields[0]), gateway: Self.address(fields[2])), metric)
        }
        guard var route = rows.min(by: { $0.metric < $1.metric })?.route else { return nil }
        route.hardwareAddress = route.gateway.flatMap { Self.hardwareAddress(of: $0, route.link, neighbours) }
        self = route
    }

    /// Reads the default route with the lowest metric from the kernel's table of IPv6 routes (`/proc/net/ipv6_route`).
    /// Returns `nil` if there is no default route. No hardware address is needed, because IPv6 gateways of different
    /// networks rarely have the same link-local address.
    init?(table6: String) {
        typealias Row = (route: DefaultRoute, metric: UInt32)
        let rows = table6.split(separator: "\n").compactMap { line -> Row? in
            // The columns: destination and its length, source and its length, gateway, metric, references, use, flags,
            // link.
            let fields = line.split(separator: " ")
            guard fields.count >= 10, Self.isZero(fields[0]), Self.isZero(fields[1]), Self.isInUse(fields[8]),
                let metric = UInt32(fields[5], radix: 16), metric != Self.unusable, fields[9] != "lo"
            else { return nil }
            let gateway = Self.isZero(fields[4]) ? nil : String(fields[4])
            return (DefaultRoute(link: String(fields[9]), gateway: gateway), metric)
        }
        guard let route = rows.min(by: { $0.metric < $1.metric })?.route else { return nil }
        self = route
    }

    private static func isZero(_ hexadecimal: Substring) -> Bool { hexadecimal.allSatisfy { $0 == "0" } }

    private static func isInUse(_ flags: Substring) -> Bool { (Int(flags, radix: 16) ?? 0) & isUp != 0 }

    /// Converts an IPv4 address, which the kernel writes as one number in the machine's byte order.
    private static func address(_ hexadecimal: Substring) -> String? {
        guard let number = UInt32(hexadecimal, radix: 16), number != 0 else { return nil }
        return withUnsafeBytes(of: number) { $0.map(String.init).joined(separator: ".") }
    }

    /// Returns a gateway's hardware address from the kernel's table of neighbors (`/proc/net/arp`); `nil` if it is
    /// unknown.
    private static func hardwareAddress(of gateway: String, _ link: String, _ neighbours: String) -> String? {
        for line in neighbours.split(separator: "\n").dropFirst() {
            // The columns: IP address, kind, flags, hardware address, mask, link.
            let fields = line.split(separator: " ")
            guard fields.count >= 6, fields[0] == gateway, fields[5] == link else { continue }
            // If the entry is incomplete, because the gateway has not answered yet, its hardware address has only
            // zeros.
            return fields[3].allSatisfy { $0 == "0" || $0 == ":" } ? nil : String(fields[3])
        }
        return nil
    }
}

extension AdaptiveKeepAlive {
    /// The largest number of bytes that are read from a kernel table, 64 KiB. A table may have thousands of routes. The
    /// default routes are near the beginning, so these bytes suffice.
    private static let tableLimit = 64 << 10

    /// Returns a name for the current network, made of its default route: the link, the gateway, and the gateway's
    /// hardware address. The hardware address distinguishes networks with the same IP addresses. The address also
    /// reveals the machine's location, so treat the name as confidential.
    ///
    /// - Returns: The name, such as `wlan0 via 192.168.1.1 at 02:00:5e:10:00:01`; `nil` if there is no default route,
    ///   or if the system does not show its routes.
    public static func systemNetwork() -> String? {
        // The kernel makes these tables in memory when they are read, so reading does not block.
        let neighbours = table("arp") ?? ""
        let route = table("route").flatMap { DefaultRoute(table: $0, neighbours: neighbours) }
        return (route ?? table("ipv6_route").flatMap { DefaultRoute(table6: $0) })?.name
    }

    /// Returns the text of a kernel table in the network namespace of the calling thread; `nil` if the table cannot be
    /// opened.
    private static func table(_ name: String) -> String? {
        guard let file = FileHandle(forReadingAtPath: "/proc/thread-self/net/\(name)") else { return nil }
        defer { try? file.close() }
        var bytes = Data()
        while bytes.count < tableLimit, let more = try? file.read(upToCount: tableLimit), !more.isEmpty {
            bytes += more
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
