import CommandArguments
import Foundation
import Glibc
import TestSupport
import Testing

@testable import CourierCommands

struct StoreCommandTests {
    private static func store(_ words: String...) async throws -> ProgramRun.Outcome {
        try await ProgramRun([try CourierExecutable.path.get(), "store"] + words).end()
    }

    /// A file with a message of each client, for a broker that is not there.
    private static func file(
        in folder: TemporaryFolder, clients: [String]
    ) async throws -> (path: String, port: UInt16) {
        let path = folder.file("messages.store")
        let port = try LocalPort.free()
        for client in clients {
            let run = try ProgramRun([
                try CourierExecutable.path.get(), "pub", "-h", "127.0.0.1", "-p", "\(port)", "-i", client, "-q", "1",
                "-t", "orders/\(client)", "-m", "secret of \(client)", "--store", path,
            ])
            while !run.errors.contains("stays in") { try await Task.sleep(for: .milliseconds(5)) }
            kill(try #require(run.id), SIGTERM)
            _ = await run.end()
        }
        return (path, port)
    }

    @Test func `it shows what waits, and removes exactly what it is told to`() async throws {
        let folder = try TemporaryFolder()
        let (path, port) = try await Self.file(in: folder, clients: ["ada", "bob"])
        let broker = "127.0.0.1:\(port)"

        let count = try await Self.store("count", path)
        #expect(count.code == 0)
        #expect(
            count.text == """
                "ada" at "\(broker)": 1 outgoing, 0 incoming, 13 bytes of payload
                "bob" at "\(broker)": 1 outgoing, 0 incoming, 13 bytes of payload

                """)
        let list = try await Self.store("list", path, "-i", "bob")
        #expect(list.text.hasPrefix("\"bob\" at \"\(broker)\": outgoing 1 \"orders/bob\" QoS 1 13 bytes queued since "))
        #expect(list.text.split(separator: "\n").count == 1 && !list.text.contains("secret"))
        struct Row: Decodable {
            let clientID: String
            let payload: Data
        }
        let export = try await Self.store("export", path, "--broker", broker)
        let rows = try export.text.split(separator: "\n").map {
            try JSONDecoder().decode(Row.self, from: Data($0.utf8))
        }
        #expect(rows.map(\.clientID) == ["ada", "bob"])
        #expect(rows.map { String(decoding: $0.payload, as: UTF8.self) } == ["secret of ada", "secret of bob"])

        let stranger = try await Self.store("purge", path, "-i", "eve", "--broker", broker)
        #expect(stranger.code == 1 && stranger.errors.contains("\"ada\" at"))
        let purge = try await Self.store("purge", path, "-i", "ada", "--broker", broker)
        #expect(purge.code == 0 && purge.text.contains("removed 1 outgoing and 0 incoming"))
        #expect(try await Self.store("list", path).text.hasPrefix("\"bob\""))
        #expect(try await Self.store("purge", path, "--all").code == 0)
        #expect(try await Self.store("list", path).text.isEmpty)
    }

    @Test func `a file that a program has open is shown and not purged`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("messages.store")
        let run = try ProgramRun([
            try CourierExecutable.path.get(), "pub", "-h", "127.0.0.1", "-p", "\(try LocalPort.free())", "-i", "ada",
            "-q", "1", "-t", "a", "-m", "x", "--store", path,
        ])
        while !run.errors.contains("stays in") { try await Task.sleep(for: .milliseconds(5)) }
        #expect(try await Self.store("count", path).text.contains("1 outgoing"))
        let purge = try await Self.store("purge", path, "--all")
        #expect(purge.code == 1 && purge.output.isEmpty && purge.errors.contains("in use"), "\(purge.errors)")
        kill(try #require(run.id), SIGTERM)
        _ = await run.end()
    }

    @Test(arguments: StoreArguments.Action.allCases)
    func `what is no store is left alone`(action: StoreArguments.Action) async throws {
        let folder = try TemporaryFolder()
        let all = action == .purge ? ["--all"] : []
        let courier = try CourierExecutable.path.get()
        let missing = try await ProgramRun([courier, "store", action.rawValue, folder.file("missing")] + all).end()
        #expect(missing.code == 1 && missing.errors.contains("There is no file"))
        #expect(!FileManager.default.fileExists(atPath: folder.file("missing")))
        try "not a store".write(toFile: folder.file("foreign"), atomically: true, encoding: .utf8)
        let foreign = try await ProgramRun([courier, "store", action.rawValue, folder.file("foreign")] + all).end()
        #expect(foreign.code == 1 && foreign.errors.contains("not a database"), "\(foreign.errors)")
        #expect(try String(contentsOfFile: folder.file("foreign"), encoding: .utf8) == "not a store")
    }

    @Test(arguments: [
        ([], "Say what to do"), (["list"], "list needs a file"), (["lst", "f"], "'lst' to do with a store"),
        (["list", "f", "g"], "'g' is too much"), (["list", "f", "--all"], "--all is for purge."),
        (["purge", "f"], "exactly what to remove"), (["purge", "f", "-i", "a"], "exactly what to remove"),
        (["purge", "f", "--all", "-i", "a", "--broker", "b"], "exactly what to remove"),
    ])
    func `a command line that is not clear is refused`(words: [String], message: String) {
        let error = #expect(throws: ArgumentError.self) {
            var settings = StoreArguments()
            try ArgumentReader(StoreArguments.groups, operands: .accepted { try $0.take($1) })
                .read(words, into: &settings)
            _ = try settings.checked()
        }
        #expect(error?.message.contains(message) == true)
    }
}
