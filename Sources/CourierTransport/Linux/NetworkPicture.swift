import CLinux
import Glibc

/// What one look at the machine's networks has shown, and whether it is enough to connect to another machine.
///
/// A network is there when
/// - a route leads out of a link that is up, has a carrier and is not the loopback, to somewhere that is not
///   link-local. It need not be a default route: a broker on the local network needs none. So a bridge with running
///   containers counts as a network.
/// - and an address of the route's family, of more than link or host scope, is on any link that is up: a server may
///   have its address on the loopback and its routes elsewhere.
///
/// Take links and addresses in before routes; routes are not kept, so that a large table costs no memory.
struct NetworkPicture: Sendable {
    private var upLinks: Set<Int32> = []
    /// Those of the links that are up that can carry something to another machine.
    private var outwardLinks: Set<Int32> = []
    private var addressFamilies: Set<UInt8> = []

    /// Whether a network is there, by what was taken in until now. It stays so for this picture.
    private(set) var isAvailable = false

    /// Takes a message in; those that are no links, addresses or routes change nothing.
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
        // An IPv6 address that is still being probed for a duplicate cannot be used, or not yet.
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

    /// 169.254.0.0/16 and fe80::/10.
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
