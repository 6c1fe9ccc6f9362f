#if os(Linux)
    import CLinux
    import Glibc

    /// Collects the kernel's messages of one `NetworkLook` and decides whether the machine can connect to other
    /// machines.
    ///
    /// A network is available if both conditions are true:
    /// - A route to a destination that is not link-local uses a link that is up, has a carrier and is not the loopback.
    ///   The route need not be a default route, because a broker may be on the local network. A bridge with running
    ///   containers therefore counts as a network.
    /// - At least one link that is up has an address of the route's family whose scope is wider than link or host. This
    ///   link may differ from the link of the route: a server may have its address on the loopback and its routes on
    ///   other links.
    ///
    /// Add links first, then addresses, then routes. Routes are not stored, so a large table needs no memory.
    struct NetworkPicture: Sendable {
        private var upLinks: Set<Int32> = []
        /// The links that are up and can carry traffic to another machine.
        private var outwardLinks: Set<Int32> = []
        private var addressFamilies: Set<UInt8> = []

        /// True if the messages added so far show an available network. It never becomes `false` again.
        private(set) var isAvailable = false

        /// Adds a message. Messages other than links, addresses and routes are ignored.
        mutating func add(_ message: NetlinkMessage) {
            switch message {
            case .link(let link): add(link)
            case .address(let address): add(address)
            case .route(let route): add(route)
            case .done, .refused, .interrupted, .other: break
            }
        }

        private mutating func add(_ link: NetlinkMessage.Link) {
            guard link.flags & UInt32(IFF_UP.rawValue) != 0 else { return }
            upLinks.insert(link.index)
            let isRunning = link.flags & UInt32(IFF_RUNNING.rawValue) != 0
            let isLoopback = link.flags & UInt32(IFF_LOOPBACK.rawValue) != 0
            if isRunning, !isLoopback { outwardLinks.insert(link.index) }
        }

        private mutating func add(_ address: NetlinkMessage.Address) {
            // While the kernel checks whether an IPv6 address is a duplicate, the address cannot be used, unless the
            // kernel marks it as optimistic.
            let isTentative = address.flags & UInt32(IFA_F_TENTATIVE) != 0
            let isOptimistic = address.flags & UInt32(IFA_F_OPTIMISTIC) != 0
            let isDuplicate = address.flags & UInt32(IFA_F_DADFAILED) != 0
            guard address.scope < UInt8(RT_SCOPE_LINK.rawValue), upLinks.contains(address.link), !isDuplicate,
                !isTentative || isOptimistic
            else { return }
            addressFamilies.insert(address.family)
        }

        private mutating func add(_ route: NetlinkMessage.Route) {
            guard !isAvailable, route.type == UInt8(RTN_UNICAST), addressFamilies.contains(route.family),
                !Self.isLinkLocal(route)
            else { return }
            isAvailable = route.links.contains { outwardLinks.contains($0) }
        }

        /// True for destinations in 169.254.0.0/16 and fe80::/10.
        private static func isLinkLocal(_ route: NetlinkMessage.Route) -> Bool {
            let destination = route.destination
            guard destination.count >= 2 else { return false }
            switch Int32(route.family) {
            case AF_INET: return destination[0] == 169 && destination[1] == 254
            case AF_INET6: return destination[0] == 0xFE && destination[1] & 0xC0 == 0x80
            default: return false
            }
        }
    }
#endif
