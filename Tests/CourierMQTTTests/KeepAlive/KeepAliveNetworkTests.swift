import CourierMQTT
import CourierTransport
import Glibc
import TestSupport
import Testing

/// The names of networks.
@Suite(.timeLimit(.minutes(5))) struct KeepAliveNetworkTests {
    private static let header = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
    private static let neighbours = """
        IP address       HW type     Flags       HW address            Mask     Device
        192.0.2.1        0x1         0x0         00:00:00:00:00:00     *        eth1
        192.0.2.1        0x1         0x2         02:00:5e:10:00:01     *        wlan0
        192.0.2.9        0x1         0x2         02:00:5e:10:00:09     *        wlan0
        """

    @Test func `the network name has the interface and gateway of the default route with the lowest metric`() {
        let table =
            Self.header + """
                wlan0\t00000000\t010200C0\t0003\t0\t0\t600\t00000000\t0\t0\t0
                tun0\t00000000\t00000000\t0001\t0\t0\t700\t00000000\t0\t0\t0
                down0\t00000000\t050200C0\t0002\t0\t0\t0\t00000000\t0\t0\t0
                wlan0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
                half0\t00000000\t010200C0\t0003\t0\t0\t0\t00000080\t0\t0\t0

                """
        let route = DefaultRoute(table: table, neighbours: Self.neighbours)
        #expect(route?.name == "wlan0 via 192.0.2.1 at 02:00:5e:10:00:01")
    }

    @Test func `if the MAC address of the gateway is unknown, the network name omits the MAC address`() {
        let table = Self.header + "eth1\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
        #expect(DefaultRoute(table: table, neighbours: Self.neighbours)?.name == "eth1 via 192.0.2.1")
        #expect(DefaultRoute(table: table, neighbours: "")?.name == "eth1 via 192.0.2.1")
    }

    @Test func `the network name of a tunnel is the name of the tunnel's interface`() {
        let table = Self.header + "tun0\t00000000\t00000000\t0001\t0\t0\t0\t00000000\t0\t0\t0\n"
        #expect(DefaultRoute(table: table, neighbours: "")?.name == "tun0")
    }

    @Test func `the network name is read from the IPv6 default route with the lowest metric`() {
        let zero = String(repeating: "0", count: 32)
        let router = "fe800000000000000200005efe100001"
        let table = """
            fd000000000000000000000000000000 40 \(zero) 00 \(zero) 00000100 00000001 00000000 00000001     eth0
            \(zero) 00 \(zero) 00 \(router) 00000400 00000003 00000000 00000003     eth0
            \(zero) 00 \(zero) 00 \(router) 00000300 00000003 00000000 00000003    wlan0
            \(zero) 00 \(zero) 00 \(zero) ffffffff 00000001 00000000 00200200       lo

            """
        #expect(DefaultRoute(table6: table)?.name == "wlan0 via \(router)")
    }

    @Test(arguments: [
        "", "\n\n", "Iface\n", "Iface\neth0\t0\n", "Iface\na b c d e f g h i", "\0\u{FF}\t\t\t\t\t\t\t\t",
    ])
    func `no default route is found in an invalid routing table`(text: String) {
        #expect(DefaultRoute(table: text, neighbours: text) == nil)
        #expect(DefaultRoute(table6: text) == nil)
    }

    @Test(.enabled(PrivateNetwork.requirement) { try await NetworkLab.isPossible() })
    func `systemNetwork() returns the network name of the calling thread's namespace`() async throws {
        let loop = try EventLoop(name: "test-loop")
        func ask() async -> String? {
            await withCheckedContinuation { continuation in
                loop.execute { continuation.resume(returning: AdaptiveKeepAlive.systemNetwork()) }
            }
        }
        func run(_ command: String) async -> Bool {
            await withCheckedContinuation { continuation in
                loop.execute { continuation.resume(returning: system(command) == 0) }
            }
        }
        await withCheckedContinuation { continuation in
            loop.execute {
                _ = PrivateNetwork.enter()
                continuation.resume()
            }
        }
        #expect(await ask() == nil)
        #expect(
            await run(
                "ip link add out0 type veth peer name out1 && ip link set out1 up && ip link set out0 up"
                    + " && ip addr add 198.51.100.2/24 dev out0 && ip route add default via 198.51.100.1"))
        #expect(await ask() == "out0 via 198.51.100.1")
        #expect(await run("ip neigh add 198.51.100.1 lladdr 02:00:5e:10:00:01 dev out0"))
        #expect(await ask() == "out0 via 198.51.100.1 at 02:00:5e:10:00:01")
        #expect(await run("ip route del default"))
        #expect(await ask() == nil)
        await loop.shutdown()
    }
}
