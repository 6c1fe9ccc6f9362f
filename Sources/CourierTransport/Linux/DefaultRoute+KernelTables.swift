#if os(Linux)
    extension DefaultRoute {
        /// The kernel's flag for a usable route (RTF_UP).
        private static let isUp = 1
        /// The metric that the kernel gives to an unreachable route.
        private static let unusable = UInt32.max

        /// Reads the default route with the lowest metric from the kernel's table of IPv4 routes (`/proc/net/route`);
        /// `nil` if the table has no default route. `neighbours` is the table with the hardware addresses
        /// (`/proc/net/arp`).
        package init?(table: String, neighbours: String) {
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

        /// Reads the default route with the lowest metric from the table of IPv6 routes (`/proc/net/ipv6_route`); `nil`
        /// if the table has no default route. The route has no hardware address. The gateway's link-local IPv6 address
        /// identifies the network well enough, because gateways of different networks rarely have the same one.
        package init?(table6: String) {
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
                // If the gateway has not answered yet, its entry is incomplete: the hardware address has only zeros.
                return fields[3].allSatisfy { $0 == "0" || $0 == ":" } ? nil : String(fields[3])
            }
            return nil
        }
    }

    extension DefaultRoute {
        /// The largest number of bytes that are read from a kernel table, 64 KiB. A table may have thousands of routes. The
        /// default routes are near the beginning, so this part suffices.
        private static let tableLimit = 64 << 10

        /// The default route in the network namespace of the calling thread; `nil` if it does not exist, or if the
        /// system does not show its routes.
        package static var current: DefaultRoute? {
            // The kernel generates its tables in memory when a program reads them, so the reads do not block.
            let neighbours = table("arp") ?? ""
            let route = table("route").flatMap { DefaultRoute(table: $0, neighbours: neighbours) }
            return route ?? table("ipv6_route").flatMap { DefaultRoute(table6: $0) }
        }

        private static func table(_ name: String) -> String? {
            KernelFile.text(of: "/proc/thread-self/net/\(name)", limit: tableLimit)
        }
    }
#endif
