#if os(Linux)
    import CLinux
    import Glibc
    import TestSupport
    import Testing

    @testable import CourierTransport

    /// A network namespace for the thread of one loop. The loop's code and the processes that it starts run inside the
    /// namespace.
    struct NetworkNamespace {
        /// True if a thread can enter a new namespace on this machine, and can create a pair of connected links in it.
        static let isPossible: Bool = {
            let result = Watched(false)
            let thread = try? LoopThread(name: "test-namespace") {
                let works = PrivateNetwork.enter() && run(["ip link add out0 type veth peer name out1 2>/dev/null"])
                result.update { $0 = works }
            }
            thread?.join()
            return result.value
        }()

        let loop: EventLoop

        init(_ loop: EventLoop) async throws {
            self.loop = loop
            let isReady = await loop.run { PrivateNetwork.enter() && Self.run(["ip link set lo up"]) }
            try #require(isReady)
        }

        /// Runs `ip` commands, and waits for their end.
        func ip(_ commands: String...) async throws {
            let isDone = await loop.run { Self.run(commands.map { "ip \($0)" }) }
            try #require(isDone)
        }

        /// Waits until the link has a carrier. After a link is set up, the kernel needs some time for that.
        func carrier(_ link: String) async throws {
            let command = "timeout 20 sh -c 'until ip link show \(link) | grep -q \"state UP\"; do :; done'"
            let hasCarrier = await loop.run { Self.run([command]) }
            try #require(hasCarrier)
        }

        private static func run(_ commands: [String]) -> Bool { commands.allSatisfy { system($0) == 0 } }
    }

    @Suite(.enabled(if: NetworkNamespace.isPossible, PrivateNetwork.requirement))
    struct NetworkWatcherTests {
        /// Starts a watcher of the kernel's messages, which also works on the loop of another platform.
        private static func start(
            on loop: EventLoop, settleTime: Duration = .milliseconds(1), report: @escaping @Sendable (Bool) -> Void
        ) -> NetworkWatcher {
            .start(on: loop, settleTime: settleTime, makeSource: { NetlinkSource($0) }, report: report)
        }

        private func withNamespace(
            _ clock: any LoopClock = RealLoopClock(), _ body: (NetworkNamespace) async throws -> Void
        ) async throws {
            let loop = try EventLoop(name: "test-loop", clock: clock)
            do {
                try await body(try await NetworkNamespace(loop))
            } catch {
                await loop.shutdown()
                throw error
            }
            await loop.shutdown()
        }

        @Test func `the watcher reports when a network appears, disappears and returns`() async throws {
            try await withNamespace { namespace in
                let reports = Watched<[Bool]>([])
                let watcher = Self.start(on: namespace.loop) { isAvailable in
                    reports.update { $0.append(isAvailable) }
                }
                try await reports.wait("the loopback alone") { $0 == [false] }
                try await namespace.ip(
                    "link add out0 type veth peer name out1", "link set out1 up", "link set out0 up",
                    "addr add 192.0.2.2/24 dev out0", "route add default via 192.0.2.1")
                try await reports.wait("the network") { $0 == [false, true] }
                try await namespace.ip("link set out0 down")
                try await reports.wait("the link's end") { $0 == [false, true, false] }
                try await namespace.ip("link set out0 up")
                try await reports.wait("the link's return") { $0 == [false, true, false, true] }
                try await namespace.ip("link set out1 down")
                try await reports.wait("the loss of the carrier") { $0.count == 5 && $0.last == false }
                try await namespace.ip("link set out1 up")
                try await reports.wait("the carrier's return") { $0.count == 6 && $0.last == true }
                try await namespace.ip("addr del 192.0.2.2/24 dev out0")
                try await reports.wait("the address' end") { $0.count == 7 && $0.last == false }
                watcher.stop()
            }
        }

        @Test func `the watcher reports no network if there is an address but no route`() async throws {
            try await withNamespace { namespace in
                try await namespace.ip(
                    "link add out0 type veth peer name out1", "link set out1 up", "link set out0 up",
                    "addr add 192.0.2.2/32 dev out0")
                let reports = Watched<[Bool]>([])
                let watcher = Self.start(on: namespace.loop) { isAvailable in
                    reports.update { $0.append(isAvailable) }
                }
                try await reports.wait("the first look") { $0 == [false] }
                try await namespace.ip("route add 198.51.100.0/24 dev out0")
                try await reports.wait("the route") { $0 == [false, true] }
                watcher.stop()
            }
        }

        @Test func `the network watcher reports many changes within the settle time only once`() async throws {
            let clock = ManualClock()
            try await withNamespace(clock) { namespace in
                try await namespace.ip(
                    "link add out0 type veth peer name out1", "link set out1 up", "link set out0 up",
                    "addr add 192.0.2.2/24 dev out0")
                try await namespace.carrier("out0")
                let reports = Watched<[Bool]>([])
                let watcher = Self.start(on: namespace.loop, settleTime: NetworkWatcher.defaultSettleTime) {
                    isAvailable in
                    reports.update { $0.append(isAvailable) }
                }
                try await reports.wait("the network") { $0 == [true] }
                for _ in 0..<5 {
                    try await namespace.ip("addr flush dev out0", "addr add 192.0.2.2/24 dev out0")
                }
                try await namespace.ip("addr flush dev out0")
                for _ in 0..<2 { await namespace.loop.run {} }
                #expect(reports.value == [true])
                clock.advance(by: NetworkWatcher.defaultSettleTime)
                try await reports.wait("the look") { $0 == [true, false] }
                watcher.stop()
            }
        }

        @Test func `the watcher reports a new network even if the kernel's messages overflow the socket buffer`()
            async throws
        {
            try await withNamespace { namespace in
                let reports = Watched<[Bool]>([])
                let watcher = Self.start(on: namespace.loop) { isAvailable in
                    reports.update { $0.append(isAvailable) }
                }
                try await reports.wait("the loopback alone") { $0 == [false] }
                // The loop can not read while this command runs. Its 4,000 messages need about 1 KiB each of the socket's
                // buffer.
                try await namespace.ip(
                    "link add out0 type veth peer name out1", "link set out1 up", "link set out0 up",
                    "-batch - <<END\n"
                        + String(repeating: "link set lo mtu 60000\nlink set lo mtu 60001\n", count: 2_000)
                        + "addr add 192.0.2.2/24 dev out0\nEND")
                try await reports.wait("the network") { $0.last == true }
                watcher.stop()
            }
        }

        @Test func `stopping one network watcher does not stop the reports of another watcher`() async throws {
            try await withNamespace { namespace in
                let stopped = Watched<[Bool]>([])
                let running = Watched<[Bool]>([])
                let watcher = Self.start(on: namespace.loop) { isAvailable in
                    stopped.update { $0.append(isAvailable) }
                }
                _ = Self.start(on: namespace.loop) { isAvailable in
                    running.update { $0.append(isAvailable) }
                }
                try await running.wait("the first look") { $0 == [false] }
                watcher.stop()
                try await namespace.ip(
                    "link add out0 type veth peer name out1", "link set out1 up", "link set out0 up",
                    "addr add 192.0.2.2/24 dev out0")
                try await running.wait("the network") { $0 == [false, true] }
                #expect(stopped.value == [false])
            }
        }
    }
#endif
