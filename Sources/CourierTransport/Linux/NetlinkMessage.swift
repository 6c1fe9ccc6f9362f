import CLinux
import Glibc

/// One message of the kernel about networks, as far as it matters here.
enum NetlinkMessage: Hashable, Sendable {
    struct Link: Hashable, Sendable {
        var index: Int32
        var flags: UInt32
    }

    struct Address: Hashable, Sendable {
        var family: UInt8
        var flags: UInt32
        var scope: UInt8
        var link: Int32
    }

    struct Route: Hashable, Sendable {
        var family: UInt8
        /// `RTN_UNICAST` and its like.
        var type: UInt8
        /// The destination; empty for a default route.
        var destination: [UInt8] = []
        /// The links it leads out of; several for a multipath route, none for one that leads nowhere.
        var links: [Int32] = []
    }

    case link(Link)
    case address(Address)
    case route(Route)
    /// The end of what was asked for.
    case done
    /// What was asked for is refused with this error number, which is 0 for an acknowledgement.
    case refused(Int32)
    /// Things changed while the kernel was telling them, so the whole may be inconsistent.
    case interrupted
    /// A kind that does not matter, or one that is too short for its kind.
    case other
}

extension NetlinkMessage {
    /// `nlmsghdr`: length, type, flags, sequence number, sender.
    private static let headerSize = 16

    /// Tells the messages of one datagram in turn, until `tell` returns `false` or what follows is no whole message.
    ///
    /// Nothing in `bytes` is believed before it was compared with what is there.
    static func parse(_ bytes: RawSpan, _ tell: (NetlinkMessage) -> Bool) {
        var start = 0
        while let length = bytes.netlinkUInt32(at: start).map(Int.init), let type = bytes.netlinkUInt16(at: start + 4),
            let flags = bytes.netlinkUInt16(at: start + 6), length >= headerSize, length <= bytes.byteCount - start
        {
            if Int(flags) & Int(NLM_F_DUMP_INTR) != 0, !tell(.interrupted) { return }
            if !tell(message(type, bytes.extracting(start + headerSize..<start + length))) { return }
            start += RawSpan.netlinkAligned(length)
        }
    }

    private static func message(_ type: UInt16, _ body: RawSpan) -> NetlinkMessage {
        switch Int(type) {
        case Int(NLMSG_DONE): .done
        case Int(NLMSG_ERROR): body.netlinkInt32(at: 0).map { .refused($0 == .min ? EPROTO : abs($0)) } ?? .other
        case Int(RTM_NEWLINK): link(body) ?? .other
        case Int(RTM_NEWADDR): address(body) ?? .other
        case Int(RTM_NEWROUTE): route(body) ?? .other
        default: .other
        }
    }

    /// `ifinfomsg`: family, padding, type, index, flags, change mask.
    private static func link(_ body: RawSpan) -> NetlinkMessage? {
        guard body.byteCount >= 16, let index = body.netlinkInt32(at: 4), let flags = body.netlinkUInt32(at: 8) else {
            return nil
        }
        return .link(Link(index: index, flags: flags))
    }

    /// `ifaddrmsg`: family, prefix length, flags, scope, index.
    private static func address(_ body: RawSpan) -> NetlinkMessage? {
        guard let family = body.netlinkByte(at: 0), let flags = body.netlinkByte(at: 2),
            let scope = body.netlinkByte(at: 3), let link = body.netlinkInt32(at: 4)
        else { return nil }
        var address = Address(family: family, flags: UInt32(flags), scope: scope, link: link)
        // The flags that came later do not fit into the byte.
        body.netlinkAttributes(from: 8) { type, value in
            if Int(type) == Int(IFA_FLAGS), let flags = value.netlinkUInt32(at: 0) { address.flags = flags }
        }
        return .address(address)
    }

    /// `rtmsg`: family, destination length, source length, type of service, table, protocol, scope, type, flags.
    private static func route(_ body: RawSpan) -> NetlinkMessage? {
        guard body.byteCount >= 12, let family = body.netlinkByte(at: 0), let type = body.netlinkByte(at: 7) else {
            return nil
        }
        var route = Route(family: family, type: type)
        body.netlinkAttributes(from: 12) { type, value in
            switch Int(type) {
            case Int(RTA_DST.rawValue): route.destination = value.withUnsafeBytes { Array($0) }
            case Int(RTA_OIF.rawValue): if let link = value.netlinkInt32(at: 0) { route.links.append(link) }
            case Int(RTA_MULTIPATH.rawValue): value.netlinkNextHops { route.links.append($0) }
            default: break
            }
        }
        return .route(route)
    }
}
