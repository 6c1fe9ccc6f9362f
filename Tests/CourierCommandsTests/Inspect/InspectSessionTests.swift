import CourierMQTTChuck
import CourierMQTTChuckSQLite
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierCommands

/// Runs `courier inspect` on a terminal of tmux.
struct InspectSessionTests {
    /// A recording as JSON Lines: two orders, and a message whose topic contains an escape sequence.
    private static func recording(in folder: TemporaryFolder) throws -> String {
        let packets = RecordedPackets()
        try packets.order(1)
        try packets.order(2, .quotaExceeded)
        try packets.receive("news\u{1B}[2J", #"{"hot":true}"#)
        try packets.logger.exported(.jsonLines).write(to: URL(fileURLWithPath: folder.file("run.jsonl")))
        return folder.file("run.jsonl")
    }

    private static func inspect(
        _ words: [String], columns: Int = 80, rows: Int = 24, environment: [String] = []
    ) throws -> TerminalSession {
        try TerminalSession(
            [try CourierExecutable.path.get(), "inspect"] + words, columns: columns, rows: rows,
            environment: environment)
    }

    @Test func `inspect lists, filters and shows packets on a terminal, and q restores the terminal`() async throws {
        let folder = try TemporaryFolder()
        let session = try Self.inspect([try Self.recording(in: folder)])
        try await session.wait(for: "5 packets")
        #expect(try session.ask("#{alternate_on}") == "1")
        try await session.wait(for: #"news\u{1B}[2J {"#)

        try session.type("/")
        try session.type("qos:9")
        try await session.wait(for: "column 5: ")
        try session.press("C-u")
        try session.enter("topic:orders/#")
        try await session.wait(for: "2 of 5 packets")
        try await session.wait { !$0.contains { $0.contains("news") } }

        try session.press("Up", "Enter")
        try await session.wait(for: "PUBLISH to broker.example:1883")
        try await session.wait(for: "payload, 5 bytes   JSON   text   hex")
        try session.press("Tab")
        try await session.wait(for: "000000  70 69 7A 7A 61")
        try session.press("Escape")
        try await session.wait(for: "q end")
        try session.press("Escape")
        try await session.wait { $0[0].contains("5 packets") && !$0[0].contains("of 5") }
        try session.type("q")
        try await session.wait(for: "ended with 0")
        #expect(try session.lines.contains("ended with 0"))  // Not "and other modes".
        #expect(try session.ask("#{alternate_on}") == "0")
    }

    @Test func `inspect adapts its screen to a small terminal and to each new size`() async throws {
        let folder = try TemporaryFolder()
        let session = try Self.inspect([try Self.recording(in: folder), "-q", "type:publish"], columns: 40, rows: 10)
        try await session.wait(for: "3 of 5 packets")
        try await session.wait(for: "Filter: type:publish")
        try session.resize(columns: 100, rows: 30)
        try await session.wait { $0.contains { $0.contains("→ PUBLISH     q1 #1 orders/1 pizza") } }
        try session.press("Enter")
        try await session.wait(for: #""hot" : true"#)
        try session.resize(columns: 12, rows: 3)
        try await session.wait { $0.count <= 4 }
        try session.resize(columns: 80, rows: 24)
        try await session.wait(for: "Esc back")
        try session.press("C-c")
        try await session.wait(for: "ended with 0")
    }

    @Test(arguments: [false, true])
    func `inspect prints colors unless NO_COLOR is set`(hasNone: Bool) async throws {
        let folder = try TemporaryFolder()
        let session = try Self.inspect(
            [try Self.recording(in: folder)], environment: hasNone ? ["NO_COLOR=1"] : [])
        try await session.wait(for: "5 packets")
        let styled = try session.styledLines.joined()
        let colours = (31...37).filter { styled.contains("[\($0)m") || styled.contains(";\($0)m") }
        #expect(colours.isEmpty == hasNone, "\(styled)")
        try session.type("q")
        try await session.wait(for: "ended with 0")
    }

    @Test func `inspect shows packets that another program adds to the archive`() async throws {
        let folder = try TemporaryFolder()
        let packets = RecordedPackets()
        try packets.order(1)
        let archive = try MQTTChuckArchive(
            of: packets.logger, at: URL(fileURLWithPath: folder.file("run.archive")), retention: .init(age: nil))
        try await archive.flush()
        let session = try Self.inspect([folder.file("run.archive")])
        try await session.wait(for: "2 packets · following")
        try packets.order(2, .quotaExceeded)
        try await archive.flush()
        try await session.wait(for: "4 packets")
        try await session.wait(for: "Quota exceeded")
        // The other program closes the archive, and its packets remain visible.
        try packets.receive("late/news", "hot")
        await archive.close()
        try await session.wait(for: "late/news")
        try session.type("q")
        try await session.wait(for: "ended with 0")
    }

    @Test func `inspect --export prints the packets, even on a terminal`() async throws {
        let folder = try TemporaryFolder()
        let session = try Self.inspect([try Self.recording(in: folder), "--export", "text"], columns: 200)
        try await session.wait(for: "ended with 0")
        #expect(try session.lines.contains { $0.contains("PUBLISH id 1 QoS 1 orders/1") })
    }

    @Test func `inspect on a terminal prints an error and exits with 1 if the file is missing`() async throws {
        let folder = try TemporaryFolder()
        let session = try Self.inspect([folder.file("missing")])
        try await session.wait(for: "Error: The file ")
        try await session.wait(for: "ended with 1")
    }
}
