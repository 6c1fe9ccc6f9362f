import CourierCore
import CourierTesting
import Glibc
import TestSupport
import Testing

@testable import CourierMQTT
@testable import CourierTransport

/// A loop whose thread has its own network namespace.
private struct NamespaceLoop {
    static func isPossible() async throws -> Bool {
        let namespace = try NamespaceLoop()
        let isPossible = await namespace.enter()
        await namespace.group.shutdown()
        return isPossible
    }

    let group: EventLoopGroup

    init() throws { group = try EventLoopGroup() }

    var loop: EventLoop { group.loops[0] }

    /// Moves the loop's thread into a new namespace with the loopback and two connected links that are down.
    func enter() async -> Bool {
        await onLoop {
            PrivateNetwork.enter()
                && system("ip link set lo up && ip link add out0 type veth peer name out1 2>/dev/null") == 0
        }
    }

    func run(_ command: String) async throws { try #require(await onLoop { system(command) == 0 }) }

    /// Starts a broker that is reachable through all networks of the namespace.
    func startBroker() async throws -> LoopbackBroker {
        // A socket belongs to the namespace of the thread that creates it.
        let started = await onLoop { Result { try LoopbackBroker.start(on: .tcp(host: "0.0.0.0")) } }
        return try started.get()
    }

    private func onLoop<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            loop.execute { continuation.resume(returning: body()) }
        }
    }
}

@Suite(
    .enabled(PrivateNetwork.requirement) { try await NamespaceLoop.isPossible() },
    .timeLimit(.minutes(5)))
struct SystemNetworkMonitorTests {
    private func inNamespace(_ body: (NamespaceLoop) async throws -> Void) async throws {
        let namespace = try NamespaceLoop()
        do {
            try #require(await namespace.enter())
            try await body(namespace)
        } catch {
            await namespace.group.shutdown()
            throw error
        }
        await namespace.group.shutdown()
    }

    private let connect =
        "ip link set out1 up && ip link set out0 up && ip addr add 192.0.2.2/24 dev out0"
        + " && ip route add default via 192.0.2.1"

    @Test func `early and late subscribers receive each change of the network status`() async throws {
        try await inNamespace { namespace in
            var early = SystemNetworkMonitor(loop: namespace.loop).statusPublisher.values.makeAsyncIterator()
            await expectUnavailable(&early)
            var late = SystemNetworkMonitor(loop: namespace.loop).statusPublisher.values.makeAsyncIterator()
            #expect(await late.next() == .unavailable)
            try await namespace.run(connect)
            #expect(await early.next() == .available)
            #expect(await late.next() == .available)
            try await namespace.run("ip link set out0 down")
            #expect(await early.next() == .unavailable)
            #expect(await late.next() == .unavailable)
        }
    }

    @Test(.enabled(if: Platform.current == .linux, "only the platform Linux watches the networks with a socket"))
    func `the network monitor has a routing socket only while it has subscribers`() async throws {
        try await inNamespace { namespace in
            let monitor = SystemNetworkMonitor(loop: namespace.loop)
            try await routingSockets(namespace, become: 0)
            try await subscribeTwenty(to: monitor, namespace)
            try await routingSockets(namespace, become: 0)
            var again = monitor.statusPublisher.values.makeAsyncIterator()
            await expectUnavailable(&again)
        }
    }

    @Test func `a client with the default network monitor connects as soon as the network is available`() async throws {
        try await inNamespace { namespace in
            let broker = try await namespace.startBroker()
            let options = ConnectOptions(
                host: "192.0.2.2", port: broker.port, clientId: "c", username: "", password: "")
            let test = try TestClient(options, on: namespace.group) { config in
                config.environment.networkMonitor = nil
                config.autoReconnectInterval = 3_600
                config.maxAutoReconnectInterval = 3_600
            }
            test.client.connect()
            try await test.wait(for: "connectionUnavailable")
            try await test.wait(for: "connectionFailure")
            try await namespace.run(connect)
            try await test.wait(for: "connectionSuccess")
            #expect(test.eventNames.count { $0 == "connectionAttempt" } == 2)
            #expect(test.eventNames.contains("connectionAvailable"))
            try await namespace.run("ip link set out0 down")
            try await test.wait(for: "connectionUnavailable", count: 2)
            try await test.end()
            await broker.shutdown()
        }
    }

    /// Waits for the first network check. Before this check, the status may be `available`.
    private func expectUnavailable(_ values: inout PublisherValues<NetworkStatus, Never>.Iterator) async {
        var status = await values.next()
        if status == .available { status = await values.next() }
        #expect(status == .unavailable)
    }

    /// Subscribes twenty times, and then cancels all subscriptions.
    private func subscribeTwenty(to monitor: SystemNetworkMonitor, _ namespace: NamespaceLoop) async throws {
        let others = (1..<20).map { _ in monitor.statusPublisher.values.makeAsyncIterator() }
        var first = monitor.statusPublisher.values.makeAsyncIterator()
        await expectUnavailable(&first)
        try await routingSockets(namespace, become: 1)
        withExtendedLifetime(others) {}
    }

    /// Polls until the namespace has this number of routing sockets. The time limit of the test ends the wait. A
    /// process that another test starts may hold copies of all descriptors for a moment.
    private func routingSockets(_ namespace: NamespaceLoop, become count: Int) async throws {
        while await routingSockets(namespace) != count {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// Returns the number of routing sockets in the namespace of the loop, as the kernel reports it.
    private func routingSockets(_ namespace: NamespaceLoop) async -> Int {
        await withCheckedContinuation { continuation in
            namespace.loop.execute {
                guard let file = fopen("/proc/thread-self/net/netlink", "r") else {
                    return continuation.resume(returning: -1)
                }
                defer { fclose(file) }
                var line = [CChar](repeating: 0, count: 512)
                var sockets = 0
                while fgets(&line, 512, file) != nil {
                    // The fields of the line: address, protocol (0: routing), port (0: the kernel's own socket).
                    let bytes = line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
                    let fields = String(decoding: bytes, as: UTF8.self).split(separator: " ")
                    if fields.count > 2, fields[1] == "0", fields[2] != "0" { sockets += 1 }
                }
                continuation.resume(returning: sockets)
            }
        }
    }
}
