#if os(Linux)
    import CLinux
    import Glibc
    import TestSupport
    import Testing

    @testable import CourierTransport

    /// Builds netlink messages by hand, with the bytes that the kernel would send.
    struct NetlinkBytes {
        private(set) var bytes: [UInt8] = []

        mutating func add(_ numbers: any FixedWidthInteger...) {
            for number in numbers { append(number) }
        }

        private mutating func append<Number: FixedWidthInteger>(_ number: Number) {
            withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
        }

        mutating func pad() { while bytes.count % 4 != 0 { bytes.append(0) } }

        mutating func attribute(_ type: Int, _ value: [UInt8]) {
            add(UInt16(4 + value.count), UInt16(type))
            bytes += value
            pad()
        }

        static func number(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }

        static func message(_ type: Int, flags: Int = 0, _ build: (inout NetlinkBytes) -> Void = { _ in }) -> [UInt8] {
            var body = NetlinkBytes()
            build(&body)
            var whole = NetlinkBytes()
            whole.add(UInt32(16 + body.bytes.count), UInt16(type), UInt16(flags), UInt32(1), UInt32(0))
            whole.bytes += body.bytes
            whole.pad()
            return whole.bytes
        }

        static func link(_ index: Int32, flags: UInt32) -> [UInt8] {
            message(Int(RTM_NEWLINK)) { body in
                body.add(UInt8(0), UInt8(0), UInt16(1), index, flags, UInt32(0))
                body.attribute(Int(IFLA_IFNAME), Array("eth0".utf8) + [0])
            }
        }

        static func address(_ link: Int32, family: Int32, scope: UInt8, flags: UInt32) -> [UInt8] {
            message(Int(RTM_NEWADDR)) { body in
                body.add(UInt8(family), UInt8(64), UInt8(0x80), scope, link)
                body.attribute(Int(IFA_ADDRESS), Array(repeating: 9, count: 16))
                body.attribute(Int(IFA_FLAGS), number(flags))
            }
        }

        static func route(_ links: [Int32], family: Int32, to destination: [UInt8] = []) -> [UInt8] {
            message(Int(RTM_NEWROUTE)) { body in
                body.add(
                    UInt8(family), UInt8(destination.count * 8), UInt8(0), UInt8(0), UInt8(254), UInt8(3), UInt8(0))
                body.add(UInt8(RTN_UNICAST), UInt32(0))
                if !destination.isEmpty { body.attribute(Int(RTA_DST.rawValue), destination) }
                if links.count == 1 {
                    body.attribute(Int(RTA_OIF.rawValue), number(links[0]))
                } else {
                    var hops = NetlinkBytes()
                    for link in links {
                        hops.add(UInt16(16), UInt8(0), UInt8(0), link)
                        hops.attribute(Int(RTA_GATEWAY.rawValue), [10, 0, 0, 1])
                    }
                    body.attribute(Int(RTA_MULTIPATH.rawValue), hops.bytes)
                }
            }
        }
    }

    @Suite struct NetlinkMessageTests {
        private func parse(_ bytes: [UInt8]) -> [NetlinkMessage] {
            var seen: [NetlinkMessage] = []
            NetlinkMessage.parse(bytes.span.bytes) { message in
                seen.append(message)
                return true
            }
            return seen
        }

        private var everything: [(bytes: [UInt8], message: NetlinkMessage)] {
            let family = UInt8(AF_INET6)
            return [
                (NetlinkBytes.link(7, flags: 0x1_0043), .link(.init(index: 7, flags: 0x1_0043))),
                (
                    NetlinkBytes.address(7, family: AF_INET6, scope: 253, flags: 0x280),
                    .address(.init(family: family, flags: 0x280, scope: 253, link: 7))
                ),
                (
                    NetlinkBytes.route([7], family: AF_INET, to: [10, 1]),
                    .route(.init(family: UInt8(AF_INET), type: UInt8(RTN_UNICAST), destination: [10, 1], links: [7]))
                ),
                (
                    NetlinkBytes.route([7, 8, 9], family: AF_INET6),
                    .route(.init(family: family, type: UInt8(RTN_UNICAST), links: [7, 8, 9]))
                ),
                (NetlinkBytes.message(Int(NLMSG_ERROR)) { $0.add(-EPERM) }, .refused(EPERM)),
                (NetlinkBytes.message(Int(NLMSG_ERROR)) { $0.add(Int32.min) }, .refused(EPROTO)),
                (NetlinkBytes.message(Int(RTM_DELLINK)) { $0.add(UInt64(0)) }, .other),
                (NetlinkBytes.message(Int(RTM_NEWLINK)) { $0.add(UInt32(0)) }, .other),
                (NetlinkBytes.message(Int(NLMSG_DONE)) { $0.add(UInt32(0)) }, .done),
            ]
        }

        @Test func `each kind of netlink message is parsed, with and without other messages before`() {
            for (bytes, message) in everything { #expect(parse(bytes) == [message]) }
            #expect(parse(everything.flatMap(\.bytes)) == everything.map(\.message))
        }

        @Test func `a netlink dump that the kernel marks as inconsistent is reported as interrupted`() {
            #expect(parse(NetlinkBytes.message(Int(NLMSG_DONE), flags: Int(NLM_F_DUMP_INTR))) == [.interrupted, .done])
        }

        @Test func `the parser returns only the complete netlink messages of truncated input`() {
            let bytes = everything.flatMap(\.bytes)
            let messages = everything.map(\.message)
            for count in 0..<bytes.count {
                let seen = parse(Array(bytes[..<count]))
                #expect(seen == Array(messages.prefix(seen.count)), "cut at \(count)")
                #expect(seen.count < messages.count, "cut at \(count)")
            }
        }

        @Test func `the netlink parser stops at a message with an invalid length`() {
            for length in [0, 1, 15, 21, 0x7FFF_FFFF, 0xFFFF_FFFD, UInt32.max] {
                let first = NetlinkBytes.message(Int(NLMSG_DONE)) { $0.add(UInt32(0)) }
                let bad = NetlinkBytes.number(UInt32(length)) + first[4...]
                #expect(parse(first + bad) == [.done], "length \(length)")
            }
        }

        @Test func `random changes of netlink messages do not crash the parser`() {
            let bytes = everything.flatMap(\.bytes)
            var generator = SeededGenerator(seed: 11)
            for _ in 0..<20_000 {
                var changed = bytes
                for _ in 0..<Int.random(in: 1...8, using: &generator) {
                    let place = Int.random(in: changed.indices, using: &generator)
                    changed[place] = UInt8.random(in: 0...255, using: &generator)
                }
                let seen = parse(changed)
                #expect(seen.count <= 2 * changed.count / 16)
            }
        }

        @Test func `the netlink parser stops when the callback returns false`() {
            var count = 0
            let bytes = everything.flatMap(\.bytes)
            NetlinkMessage.parse(bytes.span.bytes) { _ in
                count += 1
                return count < 3
            }
            #expect(count == 3)
        }
    }
#endif
