import CourierTesting
import CourierTransport
import Glibc
import MQTTCodec
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

    @Test func `sub warns about a refused subscription if another subscription is granted`() async throws {
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

    @Test func `sub -W exits with 255 if CONNACK does not arrive in time`() async throws {
        let broker = try ScriptedBroker.start(
            afterwards: [.expect(.connect), .stall], at: .tcp(host: "127.0.0.1", port: try LocalPort.free()))
        let outcome = try await ProgramRun(Self.words(broker.port) + ["-t", "a", "-W", "1"]).end()
        #expect(outcome == ProgramRun.Outcome(output: [], errors: "", code: 255))
        await broker.shutdown()
    }

    @Test func `sub exits with 0 if the broker refuses all subscriptions after a reconnect`() async throws {
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

    @Test func `sub exits with 7 and prints the reason if the client stops reconnecting`() async throws {
        let broker = try ScriptedBroker.start([
            .connection([.accept(), .serve(until: .subscribe), .answer, .disconnect(.badAuthenticationMethod)])
        ])
        let outcome = try await ProgramRun(Self.words(broker.port) + ["-t", "a", "-W", "60"]).end()
        #expect(outcome.code == 7 && outcome.errorLines.count == 2, "\(outcome)")
        #expect(outcome.errorLines.first == "Error: The connection was lost.", "\(outcome)")
        #expect(outcome.errors.contains("Bad authentication method"), "\(outcome)")
        await broker.shutdown()
    }

    @Test func `--remove-retained removes more retained messages than can be in flight at the same time`()
        async throws
    {
        // More removals than the client keeps in flight.
        let count = 16_000
        let gate = ScriptGate()
        let messages = (0..<count).map { number in
            let payload = number == count - 1 ? "last" : "x"
            return ScriptStep.send(
                .publish(Publish(topic: "state/\(number)", payload: Array(payload.utf8), isRetained: true)))
        }
        let broker = try ScriptedBroker.start(afterwards: [
            .accept(), .serve(until: .subscribe), .answer, .fault(.hold(.pubAck, until: gate)), .group(messages),
        ])
        let run = try ProgramRun(Self.words(broker.port) + ["-t", "state/+", "--remove-retained"])
        try await run.wait { $0.output.suffix(5).elementsEqual("last\n".utf8) }
        gate.release()
        try await broker.received(.publish, number: count)
        kill(try #require(run.id), SIGINT)
        let outcome = await run.end()
        #expect(outcome.code == 0 && outcome.errors == "", "\(outcome.errors)")
        var topics: Set<String> = []
        for received in await broker.packets(.publish) {
            guard case .publish(let publish) = received.packet else { continue }
            #expect(publish.isRetained && publish.payload.isEmpty)
            topics.insert(publish.topic)
        }
        #expect(topics.count == count)
        await broker.shutdown()
    }

    @Test func `if the broker sends a removal message back, --remove-retained does not send a second removal`()
        async throws
    {
        let messages = ["on", ""].map { Publish(topic: "state", payload: Array($0.utf8), isRetained: true) }
        let broker = try ScriptedBroker.start([
            .connection([
                .accept(), .serve(until: .subscribe), .answer, .send(.publish(messages[0])), .serve(until: .publish()),
                .answer, .send(.publish(messages[1])),
            ])
        ])
        let outcome = try await ProgramRun(
            Self.words(broker.port) + ["-t", "state", "--remove-retained", "--retain-as-published", "-C", "2"]
        ).end()
        #expect(outcome.code == 0 && outcome.text == "on\n" && outcome.errors == "", "\(outcome)")
        #expect(await broker.packets(.publish).count == 1)
        await broker.shutdown()
    }

    @Test func `--remove-retained warns if the broker refuses the removal`() async throws {
        var configuration = BrokerConfiguration()
        configuration.access = BrokerAccessPolicy(
            rules: [.init(.deny, .publish, "state", username: "ada")], otherwise: .allow)
        let broker = try LoopbackBroker.start(configuration: configuration)
        let courier = try CourierExecutable.path.get()
        let sent = try await ProgramRun(
            [courier, "pub", "-h", "127.0.0.1", "-p", "\(broker.port)", "-t", "state", "-m", "on", "-r", "-q", "1"]
        ).end()
        try #require(sent.code == 0)
        let outcome = try await ProgramRun(
            Self.words(broker.port) + ["-u", "ada", "-t", "state", "--remove-retained", "-C", "1"]
        ).end()
        #expect(outcome.code == 0 && outcome.text == "on\n", "\(outcome)")
        #expect(outcome.errorLines.count == 1 && outcome.errors.hasPrefix("Warning: "), "\(outcome)")
        #expect(outcome.errors.contains("state") && outcome.errors.contains("Not authorized"), "\(outcome)")
        await broker.shutdown()
    }

    @Test func `--remove-retained exits with 1 and a warning if a removal is not acknowledged`() async throws {
        let message = Publish(topic: "state", payload: Array("on".utf8), isRetained: true)
        let broker = try ScriptedBroker.start(afterwards: [
            .accept(), .serve(until: .subscribe), .answer, .fault(.drop(.pubAck)), .send(.publish(message)),
        ])
        let outcome = try await ProgramRun(
            Self.words(broker.port) + ["-t", "state", "--remove-retained", "-C", "1"]
        ).end()
        #expect(outcome.code == 1, "\(outcome)")
        #expect(outcome.errors == "Warning: Retained messages were not removed: 1.\n", "\(outcome)")
        await broker.shutdown()
    }

    @Test func `a second signal ends sub --remove-retained with exit code 1 if a removal is not acknowledged`()
        async throws
    {
        let message = Publish(topic: "state", payload: Array("on".utf8), isRetained: true)
        let broker = try ScriptedBroker.start(afterwards: [
            .accept(), .serve(until: .subscribe), .answer, .fault(.drop(.pubAck)), .send(.publish(message)),
        ])
        let run = try ProgramRun(Self.words(broker.port) + ["-t", "state", "--remove-retained"])
        try await broker.received(.publish)
        let id = try #require(run.id)
        kill(id, SIGINT)
        kill(id, SIGTERM)
        let outcome = await run.end()
        #expect(outcome.code == 1, "\(outcome)")
        await broker.shutdown()
    }
}
