import CommandArguments
import CourierTesting
import CourierTransport
import Foundation
import Glibc
import MQTTCodec
import TestSupport
import Testing

@testable import CourierCommands

struct BenchCommandTests {
    @Test(arguments: ["0", "1", "2"])
    func `bench receives every message and reports the count`(qos: String) async throws {
        let broker = try await RealBroker()
        let outcome = try await ProgramRun([
            try CourierExecutable.path.get(), "bench", "-h", "127.0.0.1", "-p", "\(broker.port)", "-q", qos, "-n",
            "500", "-s", "100",
        ]).end()
        #expect(outcome.code == 0 && outcome.errors == "", "\(outcome.errors)")
        #expect(outcome.text.hasPrefix("500 of 500 messages arrived in "))
        // The counts at the ends of the bars add up to the number of messages.
        let counts = outcome.text.split(separator: "\n").filter { $0.contains("< ") }
            .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }
        #expect(counts.reduce(0, +) == 500, "\(outcome.text)")
        await broker.remove()
    }

    @Test func `bench sends all messages if --window is larger than the client's queue`() async throws {
        // More messages than the client keeps, and the broker delays each PUBACK.
        let count = 16_000
        // The broker sends a message each second, because a run that receives nothing ends itself.
        let message = Packet.publish(
            Publish(topic: "load", payload: BenchPayloadTests.withoutRun, delivery: .atMostOnce))
        let sign = ScriptStep.group([.pause(.seconds(1)), .send(message)])
        let broker = try ScriptedBroker.start(
            afterwards: [
                .accept(), .fault(.delay(.pubAck, by: .milliseconds(5))), .serve(until: .subscribe), .answer,
                .group(Array(repeating: sign, count: 600)),
            ], at: .tcp(host: "127.0.0.1", port: try LocalPort.free()))
        let run = try ProgramRun([
            try CourierExecutable.path.get(), "bench", "-h", "127.0.0.1", "-p", "\(broker.port)", "-t", "load", "-q",
            "1",
            "--window", "100000", "-n", "\(count)", "--payload", "text", "-s", "16",
        ])
        let id = try #require(run.id)
        // After the run has ended, the broker is shut down, so that the wait for PUBLISH below ends.
        let end = Task {
            let outcome = await run.end()
            await broker.shutdown()
            return outcome
        }
        let last = try? await broker.received(.publish, number: count)
        if last != nil { kill(id, SIGINT) }
        let outcome = await end.value
        #expect(outcome.code == 128 + SIGINT && outcome.errors == "", "\(outcome.errors)")
    }

    @Test func `bench prints its report if SIGINT ends the program early`() async throws {
        let broker = try await RealBroker()
        let recorder = try await Recorder(broker)
        let run = try ProgramRun([
            try CourierExecutable.path.get(), "bench", "-h", "127.0.0.1", "-p", "\(broker.port)", "--rate", "20",
            "-t", "load",
        ])
        var messages: [String] = []
        while messages.isEmpty { messages += try await recorder.messages() }
        kill(try #require(run.id), SIGINT)
        let outcome = await run.end()
        #expect(outcome.code == 128 + SIGINT && outcome.text.contains(" messages arrived in "), "\(outcome.text)")
        await broker.remove()
    }

    @Test func `two bench runs in one process have different client names and topics`() throws {
        let runs = try (0..<2).map { _ in try BenchRun(BenchArguments(), Console()) }
        #expect(runs[0].plan.name != runs[1].plan.name && runs[0].plan.topics != runs[1].plan.topics)
    }

    @Test func `bench sends all messages even if the broker did not return some of them`() async throws {
        let gate = ScriptGate()
        // The broker returns only 40 of the first 100 messages. More than half of the window stays in flight.
        let message = Packet.publish(
            Publish(topic: "load", payload: BenchPayloadTests.withoutRun, delivery: .atMostOnce))
        let broker = try ScriptedBroker.start(
            afterwards: [
                .accept(), .serve(until: .subscribe), .answer, .hold(gate),
                .group(Array(repeating: ScriptStep.send(message), count: 40)),
            ], at: .tcp(port: try LocalPort.free()))
        let run = try ProgramRun([
            try CourierExecutable.path.get(), "bench", "-h", "127.0.0.1", "-p", "\(broker.port)", "-t", "load", "-n",
            "140", "--payload", "text", "-s", "16",
        ])
        try await broker.received(.publish, number: 100)
        gate.release()
        try await broker.received(.publish, number: 140)
        kill(try #require(run.id), SIGINT)
        let outcome = await run.end()
        #expect(outcome.code == 128 + SIGINT && outcome.text.hasPrefix("40 of 140 messages arrived in "))
        await broker.shutdown()
    }

    @Test func `bench exits with 7 if the connection is lost while it sends QoS 0 messages`() async throws {
        let broker = try ScriptedBroker.start(
            afterwards: [.accept(), .serve(until: .publish), .cut(.orderly)], at: .tcp(port: try LocalPort.free()))
        let outcome = try await ProgramRun([
            try CourierExecutable.path.get(), "bench", "-h", "127.0.0.1", "-p", "\(broker.port)", "-t", "load",
            "--window", "100000", "-n", "100000",
        ]).end()
        #expect(outcome.code == 7 && outcome.errorLines.first == "Error: The connection was lost.", "\(outcome.errors)")
        await broker.shutdown()
    }

    @Test func `the message rate in the bench report does not count the time after the last received message`() {
        var histogram = LatencyHistogram()
        for _ in 0..<300 { histogram.add(1_000_000) }
        let report = BenchReport(
            messages: .init(sent: 400, expected: 400, arrived: 300), histogram: histogram, timeline: RateTimeline(),
            duration: .milliseconds(10_300), size: 64, lastArrival: .milliseconds(300))
        #expect(report.lines[0].hasPrefix("300 of 400 messages arrived in 0.30 s: 1000 messages/s, "))
    }

    @Test func `bench exits with 1 and prints Connection refused if no broker listens`() async throws {
        let outcome = try await ProgramRun([
            try CourierExecutable.path.get(), "bench", "-h", "127.0.0.1", "-p", "\(try LocalPort.free())",
        ]).end()
        #expect(outcome.code == 1 && outcome.errorLines.first == "Error: Connection refused")
    }

    @Test func `bench exits with 1 and names the topic if the broker refuses the subscription`() async throws {
        let id = try #require(PacketID(rawValue: 1))
        let broker = try ScriptedBroker.start(
            afterwards: [
                .accept(),
                .fault(.replace(.subAck, with: .subAck(SubAck(packetID: id, reasonCodes: [.unspecifiedError])))),
            ], at: .tcp(host: "127.0.0.1", port: try LocalPort.free()))
        let outcome = try await ProgramRun([
            try CourierExecutable.path.get(), "bench", "-h", "127.0.0.1", "-p", "\(broker.port)", "-t", "load",
        ]).end()
        #expect(outcome.code == 1 && outcome.output.isEmpty, "\(outcome.text)")
        #expect(outcome.errorLines.count == 1 && outcome.errors.contains("load"), "\(outcome.errors)")
        await broker.shutdown()
    }

    @Test func `bench --report writes an SVG file and refuses to overwrite it`() async throws {
        let broker = try await RealBroker()
        let folder = try TemporaryFolder()
        let words = [
            try CourierExecutable.path.get(), "bench", "-h", "127.0.0.1", "-p", "\(broker.port)", "-q", "1", "-n",
            "300",
            "--report", folder.file("run.svg"),
        ]
        let outcome = try await ProgramRun(words).end()
        #expect(outcome.code == 0 && outcome.errors == "", "\(outcome.errors)")
        #expect(outcome.text.hasSuffix("\nThe report is in \(folder.file("run.svg")).\n"))
        let picture = try String(contentsOfFile: folder.file("run.svg"), encoding: .utf8)
        #expect(
            picture.contains(">of 300 messages arrived</text>") && picture.contains("127.0.0.1:\(broker.port), QoS 1"))

        let again = try await ProgramRun(words).end()
        #expect(again.code == 1 && again.output.isEmpty && again.errors.contains("exists already"))
        #expect(try String(contentsOfFile: folder.file("run.svg"), encoding: .utf8) == picture)
        await broker.remove()
    }

    @Test(arguments: [
        (["-n", "0"], "count"), (["-s", "8"], "size"), (["--rate", "x"], "rate"), (["--window", "0"], "count"),
    ])
    func `bench refuses invalid numbers in its options`(words: [String], name: String) {
        var settings = BenchArguments()
        let error = #expect(throws: ArgumentError.self) {
            try ArgumentReader(BenchArguments.groups).read(words, into: &settings)
        }
        #expect(error?.message == "Invalid \(name) \"\(words[1])\".")
    }
}
