import CourierTransport
import Foundation
import Glibc
import Synchronization
import TestSupport

/// Three machines of one kernel: a client behind a router that translates its address, and a server on the other side.
///
/// ```
/// client 10.0.0.2 ── inside0 ─ router ─ outside0 ── server 192.0.2.2
/// ```
///
/// Each machine is a network namespace with the thread of a loop. The namespaces end with the loops.
final class NetworkLab: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    static let requirement = PrivateNetwork.requirement
    static let serverAddress = "192.0.2.2"

    let client: EventLoopGroup
    let server: EventLoop
    private let router: EventLoop

    /// Creates the namespaces. The router forgets a connection after `timeout` seconds without traffic.
    init(timeout: Int) async throws {
        client = try EventLoopGroup(name: "lab-client")
        router = try EventLoop(name: "lab-router")
        server = try EventLoop(name: "lab-server")
        do {
            let inside = try await Self.enter(client.loops[0])
            let outside = try await Self.enter(server)
            _ = try await Self.enter(router)
            // The router drops packets of a connection that it has forgotten. Otherwise, it would forward them with
            // another sender address.
            try await Self.run(
                """
                ip link add inside0 type veth peer name lan0 netns \(inside)
                ip link add outside0 type veth peer name wan0 netns \(outside)
                ip addr add 10.0.0.1/24 dev inside0
                ip addr add 192.0.2.1/24 dev outside0
                ip link set inside0 up
                ip link set outside0 up
                echo 1 > /proc/sys/net/ipv4/ip_forward
                nft add table ip lab
                nft add chain ip lab after '{ type nat hook postrouting priority 100; }'
                nft add rule ip lab after oifname outside0 masquerade
                nft add chain ip lab through '{ type filter hook forward priority 0; }'
                nft add rule ip lab through ct state invalid drop
                echo 0 > /proc/sys/net/netfilter/nf_conntrack_tcp_loose
                echo \(timeout) > /proc/sys/net/netfilter/nf_conntrack_tcp_timeout_established
                """, on: router)
            try await Self.run(
                """
                ip addr add 10.0.0.2/24 dev lan0
                ip link set lan0 up
                ip route add default via 10.0.0.1
                """, on: client.loops[0])
            try await Self.run("ip addr add 192.0.2.2/24 dev wan0\nip link set wan0 up", on: server)
        } catch {
            await shutdown()
            throw error
        }
    }

    /// True if this kernel and the privileges of this process allow namespaces.
    static func isPossible() async throws -> Bool {
        do {
            await (try NetworkLab(timeout: 60)).shutdown()
            return true
        } catch is Failure {
            return false
        }
    }

    func shutdown() async {
        await client.shutdown()
        await server.shutdown()
        await router.shutdown()
    }

    /// Moves the loop's thread into a new namespace, and returns the name of its file.
    private static func enter(_ loop: EventLoop) async throws -> String {
        let file = await on(loop) { () -> String? in
            guard PrivateNetwork.enter() else { return nil }
            return try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
        }
        guard let file else { throw Failure(description: "no namespace can be made") }
        return "/proc/\(file)/ns/net"
    }

    private static func run(_ commands: String, on loop: EventLoop) async throws {
        let status = await on(loop) { system("set -e; exec 2>/dev/null; \(commands)") }
        guard status == 0 else { throw Failure(description: "the commands ended with \(status): \(commands)") }
    }

    private static func on<Result: Sendable>(
        _ loop: EventLoop, _ body: @escaping @Sendable () -> Result
    ) async -> Result {
        await withCheckedContinuation { continuation in
            loop.execute { continuation.resume(returning: body()) }
        }
    }
}
