import CourierCore
import Foundation
import TestSupport
import Testing

@testable import CourierAuthHTTP

/// How long credentials are cached, and which callers share a request.
@Suite(.timeLimit(.minutes(5))) struct GrantCacheTests {
    // MARK: The cache

    @Test func `cached credentials are returned until shortly before they expire, then fetched again`() async throws {
        try await HTTPServer.run { _, number in
            ServiceBench.answer("t\(number)", expiresIn: 600)
        } _: { server in
            let bench = try ServiceBench(server)
            for (seconds, password) in [(0, "t0"), (539, "t0"), (1, "t1"), (539, "t1"), (10_000, "t2")] {
                bench.clock.advance(by: .seconds(seconds))
                #expect(try await bench.provider.connectOptions().options.password == password)
            }
            #expect(server.requests.count == 3)
        }
    }

    @Test func `short-lived credentials are cached for half of their lifetime`() async throws {
        try await HTTPServer.run { _, number in
            ServiceBench.answer("t\(number)", expiresIn: 20)
        } _: { server in
            let bench = try ServiceBench(server)
            for (seconds, password) in [(0, "t0"), (9, "t0"), (1, "t1")] {
                bench.clock.advance(by: .seconds(seconds))
                #expect(try await bench.provider.connectOptions().options.password == password)
            }
        }
    }

    @Test func `credentials that have no expiry or are already expired are not cached`() async throws {
        try await HTTPServer.run { _, number in
            ServiceBench.answer("t\(number)", expiresIn: -1)
        } _: { server in
            var mapping = ConnectOptionsMapping.test
            mapping.expiry = .unknown
            for mapping in [mapping, .test] {
                let bench = try ServiceBench(server, mapping: mapping)
                let first = try await bench.provider.connectOptions().options.password
                #expect(try await bench.provider.connectOptions().options.password != first)
            }
        }
    }

    @Test func `credentials are fetched again after clearCachedOptions()`() async throws {
        try await HTTPServer.run { _, number in
            ServiceBench.answer("t\(number)")
        } _: { server in
            let bench = try ServiceBench(server)
            #expect(try await bench.provider.connectOptions().options.password == "t0")
            await bench.provider.clearCachedOptions()
            #expect(try await bench.provider.connectOptions().options.password == "t1")
            #expect(try await bench.provider.connectOptions().options.password == "t1")
        }
    }

    @Test func `credentials whose fetch began before clearCachedOptions() are not cached`()
        async throws
    {
        let gate = Gate()
        try await HTTPServer.run { _, number in
            ServiceBench.answer("t\(number)")
        } _: { server in
            let bench = try ServiceBench(server, preparation: { _ in await gate.pass() })
            let early = Task { try await bench.provider.connectOptions().options.password }
            await gate.waitForArrivals(1)
            await bench.provider.clearCachedOptions()
            let late = Task { try await bench.provider.connectOptions().options.password }
            await gate.waitForArrivals(2)
            gate.open()
            let passwords = [try await early.value, try await late.value]
            #expect(Set(passwords) == ["t0", "t1"])
            #expect(try await bench.provider.connectOptions().options.password == passwords[1])
            #expect(server.requests.count == 2)
        }
    }

    // MARK: One request for all

    @Test func `concurrent callers share one request, even if one caller is cancelled`() async throws {
        let gate = Gate()
        try await HTTPServer.run { _, number in
            ServiceBench.answer("t\(number)")
        } _: { server in
            let bench = try ServiceBench(server, preparation: { _ in await gate.pass() })
            let calls = (0..<50).map { _ in Task { try await bench.provider.connectOptions().options.password } }
            await gate.waitForArrivals(1)
            calls[7].cancel()
            await #expect(throws: CancellationError.self) { try await calls[7].value }
            gate.open()
            for (number, call) in calls.enumerated() where number != 7 { #expect(try await call.value == "t0") }
            #expect(server.requests.count == 1)
        }
    }

    @Test func `if the last caller of a request is cancelled, the HTTP connection is closed`() async throws {
        try await HTTPServer.run { _, number in
            number == 0 ? .silence : ServiceBench.answer("t1")
        } _: { server in
            let bench = try ServiceBench(server)
            let call = Task { try await bench.provider.connectOptions() }
            await server.wait(forRequests: 1)
            call.cancel()
            await #expect(throws: CancellationError.self) { try await call.value }
            await server.waitForClosing()
            #expect(try await bench.provider.connectOptions().options.password == "t1")
        }
    }

    @Test func `a failed request is not cached`() async throws {
        try await HTTPServer.run { _, number in
            number == 0 ? .reply(500) : ServiceBench.answer("t1")
        } _: { server in
            let bench = try ServiceBench(server)
            #expect(await bench.failure() is AuthError)
            #expect(try await bench.provider.connectOptions().options.password == "t1")
        }
    }
}
