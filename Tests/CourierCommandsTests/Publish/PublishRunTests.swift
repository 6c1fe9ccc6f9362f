import CourierTesting
import CourierTransport
import Foundation
import Glibc
import MQTTCodec
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct PublishRunTests {
    private static func words(_ port: UInt16) throws -> [String] {
        [try CourierExecutable.path.get(), "pub", "-h", "127.0.0.1", "-p", "\(port)", "-t", "w"]
    }

    private static func payload(_ packet: ReceivedPacket) -> [UInt8] {
        guard case .publish(let publish) = packet.packet else { return [] }
        return Array(publish.payload)
    }

    @Test func `pub --store sends a QoS 0 message`() async throws {
        let folder = try TemporaryFolder()
        let broker = try await RealBroker()
        let recorder = try await Recorder(broker)
        let outcome = try await ProgramRun(
            Self.words(broker.port) + ["-i", "desk", "-m", "x", "--store", folder.file("store")]
        ).end()
        #expect(outcome == ProgramRun.Outcome(output: [], errors: "", code: 0))
        #expect(try await recorder.messages().map { $0.split(separator: "|")[3] } == ["78"])
        await broker.remove()
    }

    @Test func `pub exits with 7 if the broker stops reading before a QoS 0 message is sent completely`() async throws {
        let folder = try TemporaryFolder()
        // A payload that is larger than the socket buffers of the system.
        try Data(count: 64 << 20).write(to: URL(fileURLWithPath: folder.file("payload")))
        let broker = try ScriptedBroker.start(
            afterwards: [.accept(), .stopReading], at: .tcp(host: "127.0.0.1", port: try LocalPort.free()))
        let outcome = try await ProgramRun(Self.words(broker.port) + ["-f", folder.file("payload")]).end()
        #expect(outcome.code == 7 && outcome.errorLines.first == "Error: The connection was lost.", "\(outcome)")
        await broker.shutdown()
    }

    @Test func `pub -l reads a QoS 0 line while disconnected and sends the line after the reconnect`() async throws {
        let folder = try TemporaryFolder()
        let broker = try ScriptedBroker.start(
            [.connection([.accept(), .expect(.publish), .cut(.orderly)])],
            at: .tcp(host: "127.0.0.1", port: try LocalPort.free()))
        try #require(mkfifo(folder.file("lines"), 0o600) == 0)
        let writer = open(folder.file("lines"), O_RDWR | O_CLOEXEC)
        let line = try Self.words(broker.port).joined(separator: " ")
        let run = try ProgramRun(["/bin/sh", "-c", "exec \(line) -l <'\(folder.file("lines"))'"])
        try #require(write(writer, "one\n", 4) == 4)
        try await run.wait { $0.errors.contains("Trying again") }
        try #require(write(writer, "two\n", 4) == 4)
        close(writer)
        let outcome = await run.end()
        #expect(outcome.code == 0 && outcome.errorLines.first == "Error: The connection was lost.", "\(outcome)")
        #expect(Self.payload(try await broker.received(.publish, on: 2)) == Array("two".utf8))
        await broker.shutdown()
    }

    @Test func `pub -l exits with 0 and a hint if the connection is lost after the last line`() async throws {
        let folder = try TemporaryFolder()
        let port = try LocalPort.free()
        let broker = try ScriptedBroker.start(
            [.connection([.accept(), .expect(.publish), .cut(.orderly)])],
            afterwards: [.expect(.connect), .stall], at: .tcp(host: "127.0.0.1", port: port))
        try #require(mkfifo(folder.file("lines"), 0o600) == 0)
        let writer = open(folder.file("lines"), O_RDWR | O_CLOEXEC)
        let line = try Self.words(port).joined(separator: " ")
        let run = try ProgramRun(["/bin/sh", "-c", "exec \(line) -l <'\(folder.file("lines"))'"])
        try #require(write(writer, "one\n", 4) == 4)
        try await run.wait { $0.errors.contains("With -q 1, lost messages are sent again") }
        await broker.shutdown()
        close(writer)
        let outcome = await run.end()
        #expect(outcome.code == 0 && !outcome.errors.contains("no connection to end"), "\(outcome)")
    }

    @Test func `pub --store exits with 7 and prints the store's path if the client stops reconnecting`() async throws {
        let folder = try TemporaryFolder()
        let broker = try ScriptedBroker.start(
            [.connection([.accept(), .expect(.publish), .disconnect(.badAuthenticationMethod)])],
            at: .tcp(host: "127.0.0.1", port: try LocalPort.free()))
        let store = folder.file("store")
        let outcome = try await ProgramRun(
            Self.words(broker.port) + ["-V", "5", "-i", "desk", "-q", "1", "-m", "x", "--store", store]
        ).end()
        #expect(outcome.code == 7 && outcome.errorLines.first == "Error: The connection was lost.", "\(outcome)")
        #expect(outcome.errorLines.last == "Undelivered messages stay in \(store).", "\(outcome)")
        await broker.shutdown()
    }

    @Test func `pub -l prints no progress while lines are typed on the terminal`() async throws {
        // Longer than the delay after which the progress is drawn.
        let delay = Duration.milliseconds(500)
        let broker = try ScriptedBroker.start(
            afterwards: [.accept(), .fault(.delay(.pubAck, by: delay))],
            at: .tcp(host: "127.0.0.1", port: try LocalPort.free()))
        let session = try TerminalSession(Self.words(broker.port) + ["-l", "-q", "1"])
        try await broker.received(.connect)
        try session.enter("one")
        try await broker.received(.publish)
        try session.press("C-d")
        try await session.wait(for: "ended with 0")
        #expect(try !session.lines.contains { $0.contains("acknowledged") })
        await broker.shutdown()
    }

    @Test func `an error message replaces the progress line of pub on a terminal`() async throws {
        let folder = try TemporaryFolder()
        let gate = ScriptGate()
        let broker = try ScriptedBroker.start(
            [.connection([.accept(), .expect(.publish), .answer, .hold(gate), .cut(.orderly)])],
            afterwards: [.expect(.connect), .stall], at: .tcp(host: "127.0.0.1", port: try LocalPort.free()))
        try #require(mkfifo(folder.file("lines"), 0o600) == 0)
        let writer = open(folder.file("lines"), O_RDWR | O_CLOEXEC)
        let line = try Self.words(broker.port).joined(separator: " ")
        let session = try TerminalSession([
            "/bin/sh", "-c", "exec \(line) -l -q 1 <'\(folder.file("lines"))'",
        ])
        try #require(write(writer, "one\n", 4) == 4)
        try await session.wait(for: "1 sent, 1 acknowledged")
        gate.release()
        try await session.wait { $0.contains("Error: The connection was lost.") }
        close(writer)
        await broker.shutdown()
    }

    @Test func `pub -l loses no line if the broker reads slowly`() async throws {
        let folder = try TemporaryFolder()
        // More lines than the socket and the client can buffer.
        let count = 16_000
        let blanks = String(repeating: " ", count: 100)
        let lines = (0..<count).map { "\($0)\(blanks)\n" }.joined()
        let broker = try ScriptedBroker.start(
            afterwards: [.accept(), .stopReading, .pause(.seconds(3)), .resumeReading],
            at: .unix(path: folder.file("socket")))
        let outcome = try await ProgramRun(
            [try CourierExecutable.path.get(), "pub", "--unix", folder.file("socket"), "-t", "w", "-l"],
            input: Array(lines.utf8)
        ).end()
        #expect(outcome == ProgramRun.Outcome(output: [], errors: "", code: 0))
        let last = try await broker.received(.publish, number: count)
        #expect(Self.payload(last).starts(with: "\(count - 1) ".utf8))
        await broker.shutdown()
    }
}
