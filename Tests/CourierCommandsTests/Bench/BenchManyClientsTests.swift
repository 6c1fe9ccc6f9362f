import CommandArguments
import CourierTesting
import CourierTransport
import Foundation
import Glibc
import MQTTCodec
import TestSupport
import Testing

@testable import CourierCommands

/// Runs `courier bench` with many clients against mosquitto.
struct BenchManyClientsTests {
    /// The members of a JSON report that the tests check.
    private struct Report: Decodable {
        struct Connections: Decodable {
            let wanted, opened, failed, lost: Int
            let firstProblem: String?
            let timesNanoseconds: [String: Int]?
        }
        struct Messages: Decodable {
            let sent: Int
            let acknowledged: Int?
            let refused, expected, arrived, lost: Int
        }
        struct Bar: Decodable { let belowNanoseconds, count: Int }
        struct Span: Decodable {
            let startSeconds, endSeconds: Double
            let count: Int
        }

        let version: Int
        let subject: String
        let count: Int
        let connections: Connections
        let messages: Messages?
        let histogram: [Bar]
        let timeline: [Span]
        let timesNanoseconds: [String: Int]?

        init(_ path: String) throws {
            self = try JSONDecoder().decode(Report.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
        }
    }

    /// Runs `courier bench` with a JSON report, and returns its outcome and the report.
    private static func run(_ broker: RealBroker, _ words: [String]) async throws -> (ProgramRun.Outcome, Report) {
        let folder = try TemporaryFolder()
        let file = folder.file("report.json")
        let outcome = try await ProgramRun(
            [
                try CourierExecutable.path.get(), "bench", "-h", "127.0.0.1", "-p", "\(broker.port)", "--report", file,
            ] + words
        ).end()
        return (outcome, try Report(file))
    }

    @Test(arguments: [
        (["-t", "load/%i"], 1), (["-t", "load/%i", "--filter", "load/#"], 20), ([], 20),
        (["-t", "load/%i", "--filter", "+/%i", "-q", "1", "--payload", "json"], 1),
        (["-t", "load/%c", "--filter", "load/+", "-q", "2", "--payload", "random", "--window", "7"], 20),
    ])
    func `bench receives each copy of each message, and all counts in the JSON report agree`(
        words: [String], copies: Int
    ) async throws {
        let broker = try await RealBroker()
        let (outcome, report) = try await Self.run(
            broker, words + ["--publishers", "20", "--subscribers", "20", "-n", "210"])
        #expect(outcome.code == 0 && outcome.errors == "", "\(outcome.errors)")
        #expect(outcome.text.contains("40 of 40 connections opened in "))
        let messages = try #require(report.messages)
        #expect(messages.sent == 210 && messages.expected == 210 * copies && messages.arrived == 210 * copies)
        #expect(messages.lost == 0 && messages.refused == 0)
        #expect(messages.acknowledged == (words.contains("-q") ? 210 : nil))
        #expect(report.version == 1 && report.subject == "arrival" && report.count == 210 * copies)
        #expect(report.histogram.reduce(0) { $0 + $1.count } == report.count)
        #expect(report.timeline.reduce(0) { $0 + $1.count } == report.count)
        let times = try #require(report.timesNanoseconds)
        let order = ["minimum", "p50", "p75", "p90", "p95", "p99", "p99.9", "maximum"].compactMap { times[$0] }
        #expect(order.count == 8 && order == order.sorted())
        #expect(report.connections.opened == 40 && report.connections.timesNanoseconds?.count == 8)
        await broker.remove()
    }

    @Test(arguments: [("0", "sending"), ("1", "acknowledgement"), ("2", "acknowledgement")])
    func `without subscribers, bench measures acknowledgement times at QoS 1 and 2, and the send rate at QoS 0`(
        qos: String, subject: String
    ) async throws {
        let broker = try await RealBroker()
        let (outcome, report) = try await Self.run(
            broker, ["--publishers", "5", "--subscribers", "0", "-n", "3000", "-q", qos])
        #expect(outcome.code == 0 && outcome.errors == "", "\(outcome.errors)")
        #expect(report.subject == subject && report.count == 3_000 && report.messages?.sent == 3_000)
        #expect(report.timeline.reduce(0) { $0 + $1.count } == 3_000)
        let counted = report.histogram.reduce(0) { $0 + $1.count }
        #expect(counted == (qos == "0" ? 0 : 3_000) && report.messages?.acknowledged == (qos == "0" ? nil : 3_000))
        await broker.remove()
    }

    @Test func `without publishers, bench opens all connections within the ramp-up time and reports connect times`()
        async throws
    {
        let broker = try await RealBroker()
        let start = ContinuousClock.now
        let (outcome, report) = try await Self.run(
            broker, ["--publishers", "0", "--subscribers", "200", "--ramp-up", "1", "--duration", "1"])
        #expect(ContinuousClock.now - start > .seconds(1.9))
        #expect(outcome.code == 0 && outcome.errors == "", "\(outcome.errors)")
        #expect(report.subject == "connection" && report.count == 200 && report.messages == nil)
        #expect(report.histogram.reduce(0) { $0 + $1.count } == 200)
        #expect(report.connections.lost == 0 && report.connections.failed == 0)
        #expect(report.timeline.last.map { $0.endSeconds > 0.9 } == true)
        await broker.remove()
    }

    @Test func `bench ends after --duration, sends at most --rate messages per second, and receives all of them`()
        async throws
    {
        let broker = try await RealBroker()
        let (outcome, report) = try await Self.run(
            broker, ["--publishers", "3", "--subscribers", "2", "--rate", "100", "--duration", "1"])
        #expect(outcome.code == 0 && outcome.errors == "", "\(outcome.errors)")
        let messages = try #require(report.messages)
        // The rate is an upper limit. The lower limit is only one message, because a busy machine may be slow.
        #expect((1...101).contains(messages.sent) && messages.arrived == messages.sent * 2)
        await broker.remove()
    }

    @Test
    func `if the broker refuses some connections, bench continues with the other clients, then exits with an error`()
        async throws
    {
        let broker = try await RealBroker(settings: "max_connections 30")
        let (outcome, report) = try await Self.run(
            broker, ["--publishers", "20", "--subscribers", "20", "-n", "100", "-q", "1"])
        #expect(outcome.code != 0)
        let connections = report.connections
        #expect(connections.wanted == 40 && connections.opened + connections.failed == 40 && connections.failed > 0)
        let messages = try #require(report.messages)
        #expect(messages.sent == 100 && messages.arrived == messages.expected)
        let line = try #require(outcome.errorLines.first)
        #expect(line.hasPrefix("Error: \(connections.failed) of 40 clients failed. The first problem: "))
        #expect(connections.firstProblem.map { line.hasSuffix($0) } == true)
        await broker.remove()
    }

    @Test func `if the broker stops, bench counts the lost connections and exits with an error`() async throws {
        let broker = try await RealBroker()
        let folder = try TemporaryFolder()
        let file = folder.file("report.json")
        let recorder = try await Recorder(broker)
        let run = try ProgramRun([
            try CourierExecutable.path.get(), "bench", "-h", "127.0.0.1", "-p", "\(broker.port)", "--report", file,
            "--publishers", "5", "--subscribers", "5", "-t", "load", "--rate", "50", "--duration", "600",
        ])
        var messages: [String] = []
        while messages.isEmpty { messages += try await recorder.messages() }
        await broker.kill()
        let outcome = await run.end()
        let report = try Report(file)
        #expect(outcome.code != 0 && report.connections.lost > 0 && report.connections.opened == 10)
        #expect(outcome.errors.contains("connections were lost. The first problem: "), "\(outcome.errors)")
        await broker.remove()
    }

    @Test func `if the broker refuses all messages, bench counts the refusals and exits with an error at once`()
        async throws
    {
        let folder = try TemporaryFolder()
        try "topic read #\n".write(toFile: folder.file("rights"), atomically: true, encoding: .utf8)
        // With max_queued_messages 0, mosquitto 2.0.11 closes the connection after each message that it refuses.
        let broker = try await RealBroker(settings: "max_queued_messages 1000\nacl_file \(folder.file("rights"))")
        let (outcome, report) = try await Self.run(
            broker, ["-V", "mqttv5", "-q", "1", "--publishers", "2", "--subscribers", "2", "-n", "30"])
        let messages = try #require(report.messages)
        #expect(messages.sent == 30 && messages.refused == 30 && messages.acknowledged == 0 && messages.expected == 0)
        #expect(outcome.code == 1, "\(outcome.errors)")
        #expect(outcome.errors.hasPrefix("Error: 30 messages failed. The first problem: "), "\(outcome.errors)")
        await broker.remove()
    }

    @Test func `if the queue of one publisher is full, the other publishers continue to send`() async throws {
        // The broker does not acknowledge the messages of the first connection, so that its queue of 10,000 messages
        // gets full.
        let broker = try ScriptedBroker.start(
            [.connection([.accept(), .fault(.drop(.pubAck, count: .max))])], afterwards: [.accept()],
            at: .tcp(host: "127.0.0.1", port: try LocalPort.free()))
        let run = try ProgramRun([
            try CourierExecutable.path.get(), "bench", "-h", "127.0.0.1", "-p", "\(broker.port)", "-t", "load", "-q",
            "1",
            "--publishers", "2", "--subscribers", "0", "--window", "100000", "-n", "60000",
        ])
        let id = try #require(run.id)
        // After the run has ended, the broker is shut down, so that the wait for PUBLISH below ends.
        let end = Task {
            let outcome = await run.end()
            await broker.shutdown()
            return outcome
        }
        // The first publisher sends at most 20 messages, and takes its turn at most 10,020 times.
        let last = try? await broker.received(.publish, number: 20_000)
        if last != nil { kill(id, SIGINT) }
        let outcome = await end.value
        #expect(outcome.code == 128 + SIGINT && outcome.errors == "", "\(outcome.errors)")
    }

    @Test func `bench connects many clients by TLS, and exits with an error if the CA file is wrong`() async throws {
        let certificates = try await Certificates.shared
        let broker = try await RealBroker(
            settings: """
                certfile \(certificates.folder.file("server.pem"))
                keyfile \(certificates.folder.file("server.key"))
                """)
        let words = ["--publishers", "3", "--subscribers", "3", "-n", "30", "-h", "localhost", "--cafile"]
        let (outcome, report) = try await Self.run(broker, words + [certificates.authorityFile])
        #expect(outcome.code == 0 && outcome.errors == "", "\(outcome.errors)")
        #expect(report.connections.opened == 6 && report.messages?.arrived == 90)
        let (refused, _) = try await Self.run(broker, words + [certificates.folder.file("other-ca.pem")])
        #expect(refused.code == 8 && refused.errors.hasPrefix("Error: 6 of 6 clients failed. "), "\(refused.errors)")
        await broker.remove()
    }

    @Test func `if no broker listens, bench with many clients stops after the first attempts`() async throws {
        let outcome = try await ProgramRun([
            try CourierExecutable.path.get(), "bench", "-h", "127.0.0.1", "-p", "\(try LocalPort.free())",
            "--publishers", "0", "--subscribers", "1000",
        ]).end()
        #expect(outcome.code == 1 && outcome.text.hasPrefix("0 of 1000 connections opened"), "\(outcome.text)")
        #expect(outcome.errors.contains(" did not try to connect. The first problem: "), "\(outcome.errors)")
    }

    @Test func `SIGTERM ends bench with many clients, and bench prints its report`() async throws {
        let broker = try await RealBroker()
        let recorder = try await Recorder(broker)
        let run = try ProgramRun([
            try CourierExecutable.path.get(), "bench", "-h", "127.0.0.1", "-p", "\(broker.port)", "-t", "load",
            "--publishers", "50", "--subscribers", "50", "--rate", "20", "--duration", "600",
        ])
        var messages: [String] = []
        while messages.isEmpty { messages += try await recorder.messages() }
        kill(try #require(run.id), SIGTERM)
        let outcome = await run.end()
        #expect(outcome.code == 128 + SIGTERM && outcome.text.contains(" copies of "), "\(outcome.text)")
        await broker.remove()
    }

    @Test func `bench raises the soft limit of open files, and refuses to run if the hard limit is too small`()
        async throws
    {
        let broker = try await RealBroker()
        func run(_ limit: String) async throws -> ProgramRun.Outcome {
            let courier = try CourierExecutable.path.get()
            let words = "bench -h 127.0.0.1 -p \(broker.port) --publishers 0 --subscribers 100"
            return try await ProgramRun(["/bin/bash", "-c", "\(limit) && exec '\(courier)' \(words)"]).end()
        }
        let raised = try await run("ulimit -Sn 64")
        #expect(raised.code == 0 && raised.text.hasPrefix("100 of 100 connections opened"), "\(raised.errors)")
        let refused = try await run("ulimit -n 64")
        #expect(refused.code == 1 && refused.output.isEmpty)
        let needed = DescriptorLimit.needed(for: 100)
        #expect(refused.errors.contains("100 clients need \(needed) open files, but this process may open only 64."))
        #expect(refused.errors.contains("ulimit -n \(needed)"))
        await broker.remove()
    }
}
