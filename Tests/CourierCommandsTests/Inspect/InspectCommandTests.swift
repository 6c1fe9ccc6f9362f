import CommandArguments
import CourierMQTTChuck
import CourierMQTTChuckSQLite
import Foundation
import Glibc
import MQTTCodec
import TestSupport
import Testing

@testable import CourierCommands

struct InspectCommandTests {
    /// The file formats of a recording.
    enum Kind: CaseIterable { case jsonLines, archive }

    /// Writes a recording of two orders and a news message. The broker refuses the second order.
    private static func recording(_ kind: Kind, in folder: TemporaryFolder) async throws -> String {
        let packets = RecordedPackets()
        try packets.order(1)
        try packets.order(2, .quotaExceeded)
        try packets.receive("news\u{1B}[2J", "hot")
        let logger = packets.logger
        let path = folder.file("\(kind)")
        switch kind {
        case .jsonLines: try logger.exported(.jsonLines).write(to: URL(fileURLWithPath: path))
        case .archive:
            let archive = try MQTTChuckArchive(
                of: logger, at: URL(fileURLWithPath: path), retention: .init(age: nil))
            try await archive.flush()
            await archive.close()
        }
        return path
    }

    private static func inspect(_ words: [String]) async throws -> ProgramRun.Outcome {
        try await ProgramRun([try CourierExecutable.path.get(), "inspect"] + words).end()
    }

    @Test(arguments: Kind.allCases)
    func `inspect lists, searches and exports the packets of a recording`(kind: Kind) async throws {
        let folder = try TemporaryFolder()
        let path = try await Self.recording(kind, in: folder)
        let all = try await Self.inspect([path])
        #expect(all.code == 0 && all.text.split(separator: "\n").count == 5)
        #expect(!all.text.contains("\u{1B}"))
        let orders = try await Self.inspect([path, "-q", "type:publish topic:orders/#"])
        #expect(orders.text.split(separator: "\n").count == 2)
        let errors = try await Self.inspect(["--query=errors", path])
        #expect(errors.text.contains("PUBACK") && errors.text.split(separator: "\n").count == 1)

        let lines = folder.file("copy.jsonl")
        #expect(try await Self.inspect([path, "--export", "jsonl", "-o", lines]).code == 0)
        #expect(try await Self.inspect([lines]).text == all.text)
        let capture = try await Self.inspect([path, "--export", "pcapng"])
        #expect(capture.code == 0 && capture.output.starts(with: [0x0A, 0x0D, 0x0D, 0x0A]))
    }

    @Test func `inspect --slowest and --sort print the exchanges with the longest response time first`() async throws {
        let folder = try TemporaryFolder()
        let packets = RecordedPackets()
        for (number, milliseconds) in [(1, 20), (2, 900), (3, 5), (4, 70)] {
            try packets.order(number, took: .milliseconds(milliseconds))
        }
        try packets.receive("news", "hot")  // No exchange.
        let path = folder.file("run.jsonl")
        try packets.logger.exported(.jsonLines).write(to: URL(fileURLWithPath: path))
        func orders(_ words: [String]) async throws -> [String] {
            let outcome = try await Self.inspect([path] + words)
            #expect(outcome.code == 0 && outcome.errors == "", "\(outcome.errors)")
            return outcome.text.split(separator: "\n").map { line in
                let words = line.split(separator: " ")
                let took = words.firstIndex(of: "took").map { words[$0 + 1] } ?? "?"
                return "\(words.first { $0.hasPrefix("orders/") } ?? "none") \(took)"
            }
        }
        #expect(try await orders(["--slowest", "2"]) == ["orders/2 900.000", "orders/4 70.000"])
        let all = ["orders/2 900.000", "orders/4 70.000", "orders/1 20.000", "orders/3 5.000"]
        #expect(try await orders(["--sort", "took"]) == all)
        #expect(try await orders(["--slowest", "9", "-q", "took:<50ms"]) == ["orders/1 20.000", "orders/3 5.000"])
        #expect(try await orders(["--slowest", "1", "--sort", "took"]) == ["orders/2 900.000"])
        for wrong in [["--slowest", "0"], ["--sort", "size"], ["--slowest", "1", "--export", "pcapng"]] {
            #expect(try await Self.inspect([path] + wrong).code == 1, "\(wrong)")
        }
    }

    @Test func `inspect prints the same packets from a pipe as from a file`() async throws {
        let folder = try TemporaryFolder()
        let path = try await Self.recording(.jsonLines, in: folder)
        let line = "cat '\(path)' | '\(try CourierExecutable.path.get())' inspect /dev/stdin"
        let piped = try await ProgramRun(["/bin/sh", "-c", line]).end()
        #expect(piped.code == 0 && piped.errors == "", "\(piped.errors)")
        #expect(try await piped == Self.inspect([path]))
    }

    @Test(arguments: Kind.allCases)
    func `inspect -o refuses to overwrite the recording, even if the path is a link to the recording`(kind: Kind)
        async throws
    {
        let folder = try TemporaryFolder()
        let path = try await Self.recording(kind, in: folder)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: path)
        try FileManager.default.linkItem(atPath: path, toPath: folder.file("second"))
        for name in [path, folder.file("link"), folder.file("second"), folder.path + "/./\(kind)"] {
            let outcome = try await Self.inspect([path, "--export", "jsonl", "-o", name])
            #expect(outcome.code == 1 && outcome.errors.contains("is the recording itself"), "\(outcome.errors)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before, "\(name)")
        }
    }

    @Test func `inspect -o refuses a symbolic link to a file and accepts a link to a device`() async throws {
        let folder = try TemporaryFolder()
        let path = try await Self.recording(.jsonLines, in: folder)
        let (target, link) = (folder.file("target"), folder.file("link"))
        try Data("theirs".utf8).write(to: URL(fileURLWithPath: target))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
        let refused = try await Self.inspect([path, "-o", link])
        #expect(refused.code == 1 && refused.errors.contains("\(link) is a symbolic link"), "\(refused.errors)")
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "theirs")
        try FileManager.default.removeItem(atPath: link)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/dev/null")
        #expect(try await Self.inspect([path, "-o", link]).code == 0)
    }

    @Test func `inspect -o replaces a file by a file with permissions 0600, and can write to a device`() async throws {
        let folder = try TemporaryFolder()
        let path = try await Self.recording(.jsonLines, in: folder)
        let target = folder.file("old")
        #expect(
            FileManager.default.createFile(
                atPath: target, contents: Data(repeating: 0x41, count: 100_000),
                attributes: [.posixPermissions: 0o644]))
        #expect(try await Self.inspect([path, "-o", target]).code == 0)
        let text = try await Self.inspect([path]).text
        #expect(try String(contentsOfFile: target, encoding: .utf8) == text)
        let mode = try FileManager.default.attributesOfItem(atPath: target)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try await Self.inspect([path, "-o", "/dev/null"]).code == 0)
    }

    @Test func `inspect --row prints all details of one packet`() async throws {
        let folder = try TemporaryFolder()
        let path = try await Self.recording(.jsonLines, in: folder)
        let rows = try await Self.inspect([path, "-q", "topic:orders/2"])
        let number = try #require(rows.text.dropFirst().split(separator: " ").first)
        let one = try await Self.inspect([path, "--row", String(number)])
        #expect(one.code == 0 && one.text.hasPrefix("PUBLISH to broker.example:1883, packet \(number)\n"))
        for words in ["till", "orders/2", "Its exchange:", "PUBACK after ", "000000  32"] {
            #expect(one.text.contains(words), "\(words) in \(one.text)")
        }
        let none = try await Self.inspect([path, "--row", "4711"])
        #expect(none.code == 1 && none.errors.contains("There is no packet 4711."))
    }

    @Test func `inspect --serve serves a page with new packets until a signal ends it`() async throws {
        let folder = try TemporaryFolder()
        let packets = RecordedPackets()
        try packets.order(1)
        let archive = try MQTTChuckArchive(
            of: packets.logger, at: URL(fileURLWithPath: folder.file("run.archive")), retention: .init(age: nil))
        try await archive.flush()
        let run = try ProgramRun([
            try CourierExecutable.path.get(), "inspect", folder.file("run.archive"), "--serve",
        ])
        try await run.wait { $0.output.contains(0x0A) }
        let line = String(decoding: run.output, as: UTF8.self)
        #expect(line.hasPrefix("2 packets: http://127.0.0.1:"))
        let address = try #require(line.split(whereSeparator: \.isWhitespace).last.map(String.init))
        let page = try await ProgramRun(["/usr/bin/curl", "-s", address]).end()
        #expect(page.text.contains("<html"))
        // The web page receives new packets from the same event stream as curl.
        let events = try ProgramRun(["/usr/bin/curl", "-sN", address + "events"])
        try packets.receive("late", "hot")
        await archive.close()
        try await events.wait { String(decoding: $0.output, as: UTF8.self).contains(#""rowCount":3"#) }
        let rows = try await ProgramRun(["/usr/bin/curl", "-s", address + "rows?from=0"]).end()
        #expect(rows.text.contains(#""topic":"late""#), "\(rows.text)")
        kill(try #require(run.id), SIGTERM)
        let outcome = await run.end()
        #expect(outcome.code == 0 && outcome.errors == "")
    }

    @Test func `inspect exits with 1 if a file is invalid, missing or can not be written`() async throws {
        let folder = try TemporaryFolder()
        try "{\"a\":1}\nhello\n".write(toFile: folder.file("text"), atomically: true, encoding: .utf8)
        let text = try await Self.inspect([folder.file("text")])
        #expect(text.code == 1 && text.errors.contains("line 2") && text.errorLines.count == 2, "\(text.errors)")
        let missing = try await Self.inspect([folder.file("missing")])
        #expect(missing.code == 1 && missing.errors.contains("does not exist"))
        let path = try await Self.recording(.jsonLines, in: folder)
        let target = try await Self.inspect([path, "-o", folder.file("no/such/folder")])
        #expect(target.code == 1 && target.errors.contains("cannot be written"))
    }

    @Test(arguments: [
        ([], "The file is missing"), (["a", "b"], "Remove 'b'."), (["a", "--export", "xml"], "Unknown format 'xml'."),
        (["a", "-q", "qos:9"], "The query is invalid, column 5"),
        (["a", "--serve", "-q", "errors"], "--serve shows the whole file"),
        (["a", "-p", "1"], "--port can only be used with --serve."),
        (["a", "--row", "x"], "Invalid row"), (["a", "--row", "1", "-o", "f"], "--row shows one packet"),
    ])
    func `inspect refuses missing, invalid and conflicting arguments`(words: [String], message: String) {
        let error = #expect(throws: ArgumentError.self) {
            var settings = InspectArguments()
            try ArgumentReader(InspectArguments.groups, operands: .accepted { try $0.take($1) })
                .read(words, into: &settings)
            _ = try settings.checked()
        }
        #expect(error?.message.contains(message) == true)
    }
}
