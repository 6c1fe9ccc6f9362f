import TestSupport
import Testing

@testable import CourierTransport

/// A ``NetworkWatcher`` that checks the network interfaces regularly.
@Suite(.timeLimit(.minutes(5))) struct InterfaceSourceTests {
    private typealias Finding = NetworkWatchState.Finding

    @Test func `the watcher reports a network change after its check interval and the settle time`() async throws {
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        let finding = Watched(Finding.seen(isAvailable: true))
        let reports = Watched<[Bool]>([])
        let watcher = NetworkWatcher.start(
            on: loop, settleTime: .milliseconds(250),
            makeSource: { InterfaceSource($0, interval: .seconds(5)) { finding.value } },
            report: { isAvailable in reports.update { $0.append(isAvailable) } })
        try await reports.wait("the first check") { $0 == [true] }
        finding.update { $0 = .seen(isAvailable: false) }
        await loop.run {}
        #expect(reports.value == [true])
        clock.advance(by: .seconds(5))
        await loop.run {}
        await loop.run {}
        #expect(reports.value == [true])
        clock.advance(by: .milliseconds(250))
        try await reports.wait("the lost network") { $0 == [true, false] }
        finding.update { $0 = .unknown }
        clock.advance(by: .seconds(5))
        await loop.run {}
        await loop.run {}
        clock.advance(by: .milliseconds(250))
        try await reports.wait("the network that the system does not describe") { $0 == [true, false, true] }
        watcher.stop()
        finding.update { $0 = .seen(isAvailable: false) }
        for _ in 0..<3 {
            clock.advance(by: .seconds(5))
            await loop.run {}
        }
        #expect(reports.value == [true, false, true])
        await loop.shutdown()
    }

    #if os(Linux)
        @Test(.enabled(if: NetworkNamespace.isPossible, PrivateNetwork.requirement))
        func `a network is an interface with a carrier and an address that is not link-local`() async throws {
            try await withLoop { loop in
                let namespace = try await NetworkNamespace(loop)
                let reports = Watched<[Bool]>([])
                let watcher = NetworkWatcher.start(
                    on: loop, settleTime: .milliseconds(1),
                    makeSource: { InterfaceSource($0, interval: .milliseconds(1)) },
                    report: { isAvailable in reports.update { $0.append(isAvailable) } })
                try await reports.wait("the loopback alone") { $0 == [false] }
                try await namespace.ip(
                    "link add out0 type veth peer name out1", "link set out1 up", "link set out0 up",
                    "addr add 169.254.7.7/16 dev out0")
                try await namespace.carrier("out0")
                await loop.run {}
                #expect(reports.value == [false])
                try await namespace.ip("addr add 192.0.2.2/24 dev out0")
                try await reports.wait("the network") { $0 == [false, true] }
                try await namespace.ip("link set out1 down")
                try await reports.wait("the loss of the carrier") { $0 == [false, true, false] }
                watcher.stop()
            }
        }
    #endif
}
