#if os(Linux)
    import CLinux
    import Glibc

    /// A netlink message of the kernel about networks, with only the fields that `NetworkLook` needs.
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
            /// The route's type, such as `RTN_UNICAST`.
            var type: UInt8
            /// The bytes of the destination address; empty for a default route.
            var destination: [UInt8] = []
            /// The outgoing links: several for a multipath route, none for a route without a link, such as an
            /// unreachable route.
            var links: [Int32] = []
        }

        case link(Link)
        case address(Address)
        case route(Route)
        /// The end of the answer to a request.
        case done
        /// The kernel refused a request with this error number. 0 is an acknowledgment.
        case refused(Int32)
        /// The networks changed while the kernel sent its answer, so the answer may be inconsistent.
        case interrupted
        /// A message of another type, or a message that is too short for its type.
        case other
    }

    extension NetlinkMessage {
        /// The size of `nlmsghdr`: length, type, flags, sequence number, sender.
        private static let headerSize = 16

        /// Passes each message of one datagram to `tell`, until `tell` returns `false` or no complete message follows.
        ///
        /// Before a length from `bytes` is used, it is compared with the number of received bytes.
        static func parse(_ bytes: RawSpan, _ tell: (NetlinkMessage) -> Bool) {
            var start = 0
            while let length = bytes.netlinkUInt32(at: start).map(Int.init),
                let type = bytes.netlinkUInt16(at: start + 4),
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

        /// Parses an `ifinfomsg`: family, padding, type, index, flags, change mask.
        private static func link(_ body: RawSpan) -> NetlinkMessage? {
            guard body.byteCount >= 16, let index = body.netlinkInt32(at: 4), let flags = body.netlinkUInt32(at: 8)
            else {
                return nil
            }
            return .link(Link(index: index, flags: flags))
        }

        /// Parses an `ifaddrmsg`: family, prefix length, flags, scope, index.
        private static func address(_ body: RawSpan) -> NetlinkMessage? {
            guard let family = body.netlinkByte(at: 0), let flags = body.netlinkByte(at: 2),
                let scope = body.netlinkByte(at: 3), let link = body.netlinkInt32(at: 4)
            else { return nil }
            var address = Address(family: family, flags: UInt32(flags), scope: scope, link: link)
            // The flags byte has no room for newer flags. The attribute `IFA_FLAGS` holds all flags, so its value replaces
            // the byte.
            body.netlinkAttributes(from: 8) { type, value in
                if Int(type) == Int(IFA_FLAGS), let flags = value.netlinkUInt32(at: 0) { address.flags = flags }
            }
            return .address(address)
        }

        /// Parses an `rtmsg`: family, destination length, source length, type of service, table, protocol, scope, type,
        /// flags.
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
#endif
