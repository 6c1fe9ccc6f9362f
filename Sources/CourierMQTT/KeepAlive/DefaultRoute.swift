import Foundation

/// The way to other networks, by which the system tells one network from another.
///
/// The link and its gateway alone would do for few: half of all homes are `wlan0` and `192.168.1.1`. So the gateway's
/// own address on the link belongs to it, where the system knows that.
struct DefaultRoute: Hashable, Sendable {
    /// The name of the link, such as `wlan0`.
    let link: String
    /// The gateway's IP address as the system writes it; `nil` where the link itself leads on, as in a tunnel.
    let gateway: String?
    /// The gateway's address on the link; `nil` where none is known.
    var hardwareAddress: String?

    var name: String {
        [link, gateway.map { "via \($0)" }, hardwareAddress.map { "at \($0)" }].compactMap(\.self)
            .joined(separator: " ")
    }
}

extension DefaultRoute {
    /// RTF_UP.
    private static let isUp = 1
    /// The metric of a route that leads nowhere.
    private static let unusable = UInt32.max

    /// The default route of the least metric in the kernel's table of IPv4 routes (`/proc/net/route`).
    init?(table: String, neighbours: String) {
        typealias Row = (route: DefaultRoute, metric: UInt32)
        let rows = table.split(separator: "\n").dropFirst().compactMap { line -> Row? in
            // Link, destination, gateway, flags, references, use, metric, mask.
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

    /// The same of the table of IPv6 routes (`/proc/net/ipv6_route`), whose gateways have addresses of their own already.
    init?(table6: String) {
        typealias Row = (route: DefaultRoute, metric: UInt32)
        let rows = table6.split(separator: "\n").compactMap { line -> Row? in
            // Destination and its length, source and its length, gateway, metric, references, use, flags, link.
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

    /// The kernel writes the four bytes as one number of the machine.
    private static func address(_ hexadecimal: Substring) -> String? {
        guard let number = UInt32(hexadecimal, radix: 16), number != 0 else { return nil }
        return withUnsafeBytes(of: number) { $0.map(String.init).joined(separator: ".") }
    }

    /// Looks in the kernel's table of neighbours (`/proc/net/arp`).
    private static func hardwareAddress(of gateway: String, _ link: String, _ neighbours: String) -> String? {
        for line in neighbours.split(separator: "\n").dropFirst() {
            // Address, kind, flags, hardware address, mask, link.
            let fields = line.split(separator: " ")
            guard fields.count >= 6, fields[0] == gateway, fields[5] == link else { continue }
            // Nobody has answered for an incomplete entry.
            return fields[3].allSatisfy { $0 == "0" || $0 == ":" } ? nil : String(fields[3])
        }
        return nil
    }
}

extension AdaptiveKeepAlive {
    /// How much of a table of the kernel is read. Default routes stand near its beginning, and there may be thousands.
    private static let tableLimit = 64 << 10

    /// Names the network that the machine is on, by its default route: the link, the gateway, and the gateway's address on
    /// that link. The last tells apart networks that are set up alike, and says which one it is to whoever knows it: keep
    /// the name as confidential as a place.
    ///
    /// - Returns: The name, such as `wlan0 via 192.168.1.1 at 02:00:5e:10:00:01`; `nil` without a default route, and
    ///   where the system does not tell.
    public static func systemNetwork() -> String? {
        // The kernel makes these tables from memory as they are read: nothing waits.
        let neighbours = table("arp") ?? ""
        let route = table("route").flatMap { DefaultRoute(table: $0, neighbours: neighbours) }
        return (route ?? table("ipv6_route").flatMap { DefaultRoute(table6: $0) })?.name
    }

    /// The networks are those that the calling thread sees.
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
