import Dispatch
import Testing

@testable import CourierTransport

@Suite(.timeLimit(.minutes(5))) struct HostResolverTests {
    @Test(arguments: [false, true])
    func `a waiting host lookup is not started if the channel was aborted`(_ isProxied: Bool) async throws {
        let proxy =
            try isProxied ? ProxySetting.proxy(ProxyConfiguration(.socks5, host: "192.0.2.1", port: 1_080)) : .direct
        let gate = DispatchSemaphore(value: 0)
        let asked = Watched<[String]>([])
        let resolver = HostResolver { host, _ in
            asked.update { $0.append(host) }
            gate.wait()
            gate.signal()
            return .failure(TransportError(.nameResolutionFailed, "no such host"))
        }
        let limit = HostResolver.threadLimit
        try await withLoop { loop in
            func connect(_ host: String, _ recorder: Recorder = Recorder()) -> ByteChannel {
                ByteChannel.connect(
                    to: .tcp(host: host, port: 1_883), on: loop, tools: DialTools(resolver: resolver, proxy: proxy),
                    handler: recorder)
            }
            for number in 0..<limit { _ = connect("busy-\(number).example") }
            try await asked.wait("all threads") { $0.count == limit }
            let given = (0..<20).map { connect("given-up-\($0).example") }
            await loop.run {}
            #expect(resolver.waitingCount == 20)
            await loop.run { for channel in given { channel.abort() } }
            #expect(resolver.waitingCount == 0)
            let recorder = Recorder()
            _ = connect("good.example", recorder)
            await loop.run {}
            gate.signal()
            let error = try await recorder.failure()
            #expect(error.code == .nameResolutionFailed)
            #expect(asked.value.count == limit + 1)
            #expect(asked.value.last == "good.example")
        }
    }

    @Test func `host lookups run in the order in which they were added, and cancelled lookups do not run`()
        async throws
    {
        let resolver = HostResolver { _, _ in .success([]) }
        let gate = DispatchSemaphore(value: 0)
        let begun = Watched(0)
        let limit = HostResolver.threadLimit
        for _ in 0..<limit {
            resolver.perform { _ in
                begun.update { $0 += 1 }
                gate.wait()
            }
        }
        try await begun.wait("all threads") { $0 == limit }
        let done = Watched<[Int]>([])
        let tickets = (0..<4).map { number in
            resolver.perform { _ in done.update { $0.append(number) } }
        }
        tickets[1].cancel()
        tickets[2].cancel()
        gate.signal()  // One thread continues, and performs all remaining lookups.
        let order = try await done.wait("the rest") { $0.count == 2 }
        #expect(order == [0, 3])
        tickets[3].cancel()
        for _ in 1..<limit { gate.signal() }
    }
}
