#if os(Linux)
    import CLinux
    import Glibc
    import Testing

    @testable import CourierTransport

    @Suite struct NetworkPictureTests {
        private let running = UInt32(IFF_UP.rawValue | IFF_RUNNING.rawValue)
        private let loopback = UInt32(IFF_UP.rawValue | IFF_RUNNING.rawValue | IFF_LOOPBACK.rawValue)
        private let withoutCarrier = UInt32(IFF_UP.rawValue)

        private func link(_ index: Int32, _ flags: UInt32) -> NetlinkMessage {
            .link(.init(index: index, flags: flags))
        }

        private func address(
            _ link: Int32, _ family: Int32 = AF_INET, scope: Int = 0, flags: Int = 0
        ) -> NetlinkMessage {
            .address(.init(family: UInt8(family), flags: UInt32(flags), scope: UInt8(scope), link: link))
        }

        private func route(
            _ links: Int32..., family: Int32 = AF_INET, to destination: [UInt8] = [], type: Int = Int(RTN_UNICAST)
        ) -> NetlinkMessage {
            .route(.init(family: UInt8(family), type: UInt8(type), destination: destination, links: links))
        }

        private func isAvailable(_ messages: NetlinkMessage...) -> Bool {
            var picture = NetworkPicture()
            for message in messages { picture.add(message) }
            return picture.isAvailable
        }

        @Test func `a network is available if a running link has an address and a route`() {
            #expect(isAvailable(link(2, running), address(2), route(2)))
            #expect(isAvailable(link(2, running), address(2), route(2, to: [192, 168, 1, 0])))
            #expect(isAvailable(link(2, running), address(2, AF_INET6), route(2, family: AF_INET6)))
            #expect(isAvailable(link(2, withoutCarrier), link(3, running), address(3), route(2, 3)))
        }

        @Test func `a network is unavailable if the running link, the address or the matching route is missing`() {
            #expect(!isAvailable())
            #expect(!isAvailable(address(2), route(2)))
            #expect(!isAvailable(link(2, running), route(2)))
            #expect(!isAvailable(link(2, running), address(2)))
            #expect(!isAvailable(link(2, 0), address(2), route(2)))
            #expect(!isAvailable(link(2, withoutCarrier), address(2), route(2)))
            #expect(!isAvailable(link(2, running), address(2), route(2, family: AF_INET6)))
            #expect(!isAvailable(link(2, running), address(2), route()))
        }

        @Test func `an address on the loopback link counts only if another running link has a route`() {
            #expect(!isAvailable(link(1, loopback), address(1), route(1)))
            #expect(!isAvailable(link(1, loopback), link(2, running), address(1, scope: 254), route(2)))
            #expect(isAvailable(link(1, loopback), link(2, running), address(1), route(2)))
        }

        @Test func `link-local addresses and routes do not make a network available`() {
            #expect(!isAvailable(link(2, running), address(2, scope: 253), route(2)))
            #expect(!isAvailable(link(2, running), address(2), route(2, to: [169, 254, 0, 0])))
            let local: [UInt8] = [0xFE, 0x80] + Array(repeating: 0, count: 14)
            #expect(!isAvailable(link(2, running), address(2, AF_INET6), route(2, family: AF_INET6, to: local)))
        }

        @Test
        func `an optimistic IPv6 address makes a network available, but a tentative or duplicate address does not`() {
            for (flags, counts) in [
                (0, true), (IFA_F_TENTATIVE, false), (IFA_F_TENTATIVE | IFA_F_OPTIMISTIC, true),
                (IFA_F_DADFAILED, false),
            ] {
                let address = address(2, AF_INET6, flags: Int(flags))
                #expect(isAvailable(link(2, running), address, route(2, family: AF_INET6)) == counts, "flags \(flags)")
            }
        }

        @Test func `a route of type unreachable or local does not make a network available`() {
            #expect(!isAvailable(link(2, running), address(2), route(2, type: Int(RTN_UNREACHABLE))))
            #expect(!isAvailable(link(2, running), address(2), route(2, type: Int(RTN_LOCAL))))
        }
    }
#endif
