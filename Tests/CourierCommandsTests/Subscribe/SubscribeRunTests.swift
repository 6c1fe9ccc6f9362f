import CourierTesting
import CourierTransport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct SubscribeRunTests {
    private static func broker(denying filter: String, at port: UInt16) throws -> LoopbackBroker {
        var configuration = BrokerConfiguration()
        configuration.access = BrokerAccessPolicy(rules: [.init(.deny, .subscribe, filter)], otherwise: .allow)
        return try LoopbackBroker.start(on: .tcp(host: "127.0.0.1", port: port), configuration: configuration)
    }

    private static func words(_ port: UInt16) throws -> [String] {
        [try CourierExecutable.path.get(), "sub", "-h", "127.0.0.1", "-p", "\(port)", "-V", "5"]
    }

    @Test func `a refused subscription is told beside one that is granted`() async throws {
        let broker = try Self.broker(denying: "secret", at: try LocalPort.free())
        let words = try Self.words(broker.port)
        let some = try await ProgramRun(words + ["-t", "a", "-t", "secret", "-E"]).end()
        #expect(some.code == 0 && some.errorLines.count == 1, "\(some)")
        #expect(some.errors.hasPrefix("Warning: ") && some.errors.contains("secret"), "\(some)")
        let none = try await ProgramRun(words + ["-t", "secret"]).end()
        #expect(none.code == 0 && none.errorLines.count == 2, "\(none)")
        #expect(none.errors.hasPrefix("All subscription requests were denied.\nError: "), "\(none)")
        await broker.shutdown()
    }

    @Test func `the time of -W ends it with 255 before the connection is accepted`() async throws {
        let broker = try ScriptedBroker.start(
            afterwards: [.expect(.connect), .stall], at: .tcp(host: "127.0.0.1", port: try LocalPort.free()))
        let outcome = try await ProgramRun(Self.words(broker.port) + ["-t", "a", "-W", "1"]).end()
        #expect(outcome == ProgramRun.Outcome(output: [], errors: "", code: 255))
        await broker.shutdown()
    }

    @Test func `it ends when a later connection is refused all subscriptions`() async throws {
        let first = try Self.broker(denying: "secret", at: try LocalPort.free())
        let run = try ProgramRun(Self.words(first.port) + ["-t", "a", "-d"])
        try await run.wait { String(decoding: $0.output, as: UTF8.self).contains("SUBACK") }
        await first.shutdown()
        let second = try Self.broker(denying: "a", at: first.port)
        let outcome = await run.end()
        #expect(outcome.code == 0, "\(outcome)")
        #expect(outcome.errorLines.contains("All subscription requests were denied."), "\(outcome)")
        await second.shutdown()
    }

    @Test func `it ends where the client tries no more after a loss, and says why`() async throws {
        let broker = try ScriptedBroker.start([
            .connection([.accept(), .serve(until: .subscribe), .answer, .disconnect(.badAuthenticationMethod)])
        ])
        let outcome = try await ProgramRun(Self.words(broker.port) + ["-t", "a", "-W", "60"]).end()
        #expect(outcome.code == 7 && outcome.errorLines.count == 2, "\(outcome)")
        #expect(outcome.errorLines.first == "Error: The connection was lost.", "\(outcome)")
        #expect(outcome.errors.contains("Bad authentication method"), "\(outcome)")
        await broker.shutdown()
    }
}
