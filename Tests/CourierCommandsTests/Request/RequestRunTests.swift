import CourierTesting
import CourierTransport
import Glibc
import TestSupport
import Testing

@testable import CourierCommands

struct RequestRunTests {
    private static func ask(_ broker: ScriptedBroker) throws -> ProgramRun {
        try ProgramRun([
            try CourierExecutable.path.get(), "rr", "-h", "127.0.0.1", "-p", "\(broker.port)", "-t", "question", "-e",
            "answer", "-m", "x",
        ])
    }

    @Test(arguments: [CutStyle.orderly, .reset])
    func `rr exits with 7 if the connection is lost before SUBACK`(style: CutStyle) async throws {
        let broker = try ScriptedBroker.start(
            afterwards: [.accept(), .expect(.subscribe), .cut(style)],
            at: .tcp(host: "127.0.0.1", port: try LocalPort.free()))
        let outcome = try await Self.ask(broker).end()
        #expect(outcome.code == 7 && outcome.output.isEmpty, "\(outcome)")
        #expect(outcome.errorLines.first == "Error: The connection was lost.", "\(outcome.errors)")
        await broker.shutdown()
    }

    @Test func `rr prints nothing if it receives SIGINT before SUBACK`() async throws {
        let broker = try ScriptedBroker.start(
            afterwards: [.accept(), .expect(.subscribe), .stall],
            at: .tcp(host: "127.0.0.1", port: try LocalPort.free()))
        var outcome: ProgramRun.Outcome
        var count = 0
        repeat {
            let run = try Self.ask(broker)
            count += 1
            try await broker.received(.subscribe, number: count)
            kill(try #require(run.id), SIGINT)
            outcome = await run.end()
            // On a busy machine, rr may have timed out before the signal arrives.
        } while outcome.errors.contains("in time") && count < 5
        #expect(outcome == ProgramRun.Outcome(output: [], errors: "", code: 128 + SIGINT))
        await broker.shutdown()
    }
}
