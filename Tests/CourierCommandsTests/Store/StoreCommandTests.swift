import CommandArguments
import CourierCore
import CourierSQLite
import Foundation
import Glibc
import TestSupport
import Testing

@testable import CourierCommands

struct StoreCommandTests {
    static func store(_ words: String...) async throws -> ProgramRun.Outcome {
        try await ProgramRun([try CourierExecutable.path.get(), "store"] + words).end()
    }

    /// Creates a store file with one message of each client. Their broker is not running.
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
            try await run.wait { $0.errors.contains("stay in") }
            kill(try #require(run.id), SIGTERM)
            _ = await run.end()
        }
        return (path, port)
    }

    @Test func `courier store export exits with 1 if the disk is full`() async throws {
        let folder = try TemporaryFolder()
        let (path, _) = try await Self.file(in: folder, clients: ["ada"])
        let courier = try CourierExecutable.path.get()
        let outcome = try await ProgramRun(["/bin/sh", "-c", "exec \(courier) store export '\(path)' >/dev/full"]).end()
        #expect(outcome.code == 1)
        #expect(outcome.errors == "Error: The output cannot be written: No space left on device.\n")
    }

    @Test func `the command courier store can count, list, export and remove the stored messages of a client`()
        async throws
    {
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

    @Test func `courier store list prints every row without payloads and without control characters`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("messages.store")
        let store = try SQLiteMessageStore(at: URL(fileURLWithPath: path))
        func message(_ id: UInt64, _ topic: String) -> StoredMessage {
            StoredMessage(
                id: StoredMessage.ID(rawValue: id), topic: topic, payload: Array("secret".utf8), qos: .two,
                storedAt: Date(timeIntervalSince1970: 1_700_000_000))
        }
        let changes: [StoreChange] = [
            .enqueue(message(1, "orders/1")), .progress(StoredMessage.ID(rawValue: 1), .sent(packetID: 77)),
            .keep(message(2, "news/\u{7}")), .rememberPacketID(9),
            .want(StoredSubscription(try TopicFilter("orders/#"), .subscribed(.one))),
        ]
        try await withCheckedThrowingContinuation { continuation in
            store.commit(changes, in: StoreScope(clientID: "bob\u{1B}[2J", broker: "b.example:8883")) {
                continuation.resume(with: $0)
            }
        }
        let list = try await Self.store("list", path)
        #expect(list.code == 0)
        let lines = list.text.split(separator: "\n")
        #expect(lines.count == 4)
        for part in [
            #": outgoing 1 "orders/1" QoS 2 6 bytes sent with packet id 77 since "#, #": incoming 2 "news/"#,
            ": packet id 9", #": subscription "orders/#" QoS 1"#,
        ] {
            #expect(lines.count { $0.contains(part) } == 1, "\(part) in \(list.text)")
        }
        #expect(!list.text.contains("secret") && !list.text.contains(Data("secret".utf8).base64EncodedString()))
        #expect(lines.allSatisfy { $0.unicodeScalars.allSatisfy { $0.value >= 32 } }, "\(list.text)")
        await store.close()
    }

    @Test func `the command courier store can count, list, export and remove rejected messages`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("messages.store")
        let store = try SQLiteMessageStore(at: URL(fileURLWithPath: path))
        let date = Date(timeIntervalSince1970: 1_700_000_000)
        let messages = (1...3).map {
            StoredMessage(
                id: StoredMessage.ID(rawValue: $0), topic: "orders/\($0)", payload: [1, 2, 3], qos: .one, storedAt: date
            )
        }
        let changes: [StoreChange] =
            messages.map { .enqueue($0) } + [
                .progress(messages[1].id, .sent(packetID: 7)), .strike(messages[1].id, count: 3),
                .reject(messages[1].id, reason: "closed\u{7} 3 times", at: date + 60),
                .reject(messages[2].id, reason: "0x95", at: date + 60),
            ]
        try await withCheckedThrowingContinuation { continuation in
            store.commit(changes, in: StoreScope(clientID: "ada", broker: "b.example:8883")) {
                continuation.resume(with: $0)
            }
        }
        await store.close()
        let count = try await Self.store("count", path)
        #expect(
            count.text == "\"ada\" at \"b.example:8883\": 1 outgoing, 0 incoming, 3 bytes of payload, 2 rejected\n")
        let list = try await Self.store("list", path, "--rejected")
        let lines = list.text.split(separator: "\n")
        try #require(lines.count == 2, "\(list.text)")
        #expect(
            lines[0].hasSuffix(
                #": rejected 2 "orders/2" QoS 1 3 bytes sent with packet id 7 since 2023-11-14T22:13:20Z 3 strikes "#
                    + #"rejected at 2023-11-14T22:14:20Z "closed\u{07} 3 times""#), "\(lines[0])")
        #expect(try await Self.store("list", path).text.split(separator: "\n").count == 3)
        let export = try await Self.store("export", path, "--rejected")
        #expect(export.text.split(separator: "\n").allSatisfy { $0.contains(#""payload":"AQID""#) })
        #expect(try await Self.store("count", path, "--rejected").code == 1)
        let purge = try await Self.store("purge", path, "--all", "--rejected")
        #expect(purge.code == 0 && purge.text.contains("removed 2 rejected messages"), "\(purge.text)")
        #expect(try await Self.store("list", path).text.split(separator: "\n").count == 1)
    }

    @Test func `courier store count reads a store file that is in use, but courier store purge refuses to change it`()
        async throws
    {
        let folder = try TemporaryFolder()
        let path = folder.file("messages.store")
        let run = try ProgramRun([
            try CourierExecutable.path.get(), "pub", "-h", "127.0.0.1", "-p", "\(try LocalPort.free())", "-i", "ada",
            "-q", "1", "-t", "a", "-m", "x", "--store", path,
        ])
        try await run.wait { $0.errors.contains("stay in") }
        #expect(try await Self.store("count", path).text.contains("1 outgoing"))
        let purge = try await Self.store("purge", path, "--all")
        #expect(purge.code == 1 && purge.output.isEmpty && purge.errors.contains("in use"), "\(purge.errors)")
        kill(try #require(run.id), SIGTERM)
        _ = await run.end()
    }

    @Test func `pub --store refuses a client id with % and creates no file`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("messages.store")
        let outcome = try await ProgramRun([
            try CourierExecutable.path.get(), "pub", "-i", "desk-%%%%", "-q", "1", "-t", "a", "-m", "x",
            "--store", path,
        ]).end()
        #expect(
            outcome.code == 1 && outcome.errors.contains("Use -i with a client id that does not contain %"),
            "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `courier store files shows the client id, the message counts and the use of each store file`()
        async throws
    {
        let folder = try TemporaryFolder()
        let courier = try CourierExecutable.path.get()
        func files(_ words: String...) async throws -> ProgramRun.Outcome {
            try await ProgramRun(["/usr/bin/env", "XDG_STATE_HOME=\(folder.path)", courier, "store", "files"] + words)
                .end()
        }
        let none = try await files()
        #expect(none.code == 0 && none.output.isEmpty && none.errors.contains(folder.path), "\(none)")

        let place = try StorePlace(program: "app", environment: ["XDG_STATE_HOME": folder.path])
        var stores: [SQLiteMessageStore] = []
        for (client, count) in [("ada", 2), ("bob", 1), ("cleo", 0)] {
            let store = try SQLiteMessageStore(at: place.file(of: client))
            stores.append(store)
            let messages = (0..<count).map {
                StoredMessage(
                    id: StoredMessage.ID(rawValue: UInt64($0) + 1), topic: "t", payload: [1, 2, 3], qos: .one,
                    storedAt: Date())
            }
            try await withCheckedThrowingContinuation { continuation in
                store.commit(
                    messages.map { .enqueue($0) }, in: StoreScope(clientID: client, broker: StorePlace.broker)
                ) { continuation.resume(with: $0) }
            }
        }
        await stores[0].close()
        try Data("no store".utf8).write(to: place.file(of: "dora"))
        func line(_ client: String, _ rest: String) -> String { "\"\(place.file(of: client).path)\": \(rest)" }
        let all = try await files()
        let lines = all.text.split(separator: "\n").map(String.init)
        #expect(all.code == 0 && lines.count == 4, "\(all.text)")
        #expect(
            lines.contains(line("ada", #""ada" at "any": 2 outgoing, 0 incoming, 6 bytes of payload"#)), "\(all.text)")
        #expect(
            lines.contains(line("bob", #""bob" at "any": 1 outgoing, 0 incoming, 3 bytes of payload, in use"#)),
            "\(all.text)")
        #expect(lines.contains(line("cleo", "no messages, in use")), "\(all.text)")
        #expect(lines.contains { $0.hasPrefix(line("dora", "")) && $0.contains("not a database") }, "\(all.text)")
        // The owner of an unreadable file is unknown, so such a file is listed for every client id.
        let adas = lines.filter { $0.contains(#""ada""#) || $0.hasPrefix(line("dora", "")) }
        #expect(try await files("-i", "ada").text.split(separator: "\n").map(String.init) == adas)
        for store in stores { await store.close() }

        let homeless = try await ProgramRun(["/usr/bin/env", "-i", courier, "store", "files"]).end()
        #expect(homeless.code == 1 && homeless.errors.contains("XDG_STATE_HOME"), "\(homeless)")
    }

    @Test(arguments: StoreArguments.Action.allCases.filter { $0 != .files && $0 != .parked })
    func `courier store reports an error for a missing file or a file that is not a store, and changes nothing`(
        action: StoreArguments.Action
    ) async throws {
        let folder = try TemporaryFolder()
        let all = action == .purge ? ["--all"] : []
        let courier = try CourierExecutable.path.get()
        let missing = try await ProgramRun([courier, "store", action.rawValue, folder.file("missing")] + all).end()
        #expect(missing.code == 1 && missing.errors.contains("does not exist"))
        #expect(!FileManager.default.fileExists(atPath: folder.file("missing")))
        try "not a store".write(toFile: folder.file("foreign"), atomically: true, encoding: .utf8)
        let foreign = try await ProgramRun([courier, "store", action.rawValue, folder.file("foreign")] + all).end()
        #expect(foreign.code == 1 && foreign.errors.contains("not a database"), "\(foreign.errors)")
        #expect(try String(contentsOfFile: folder.file("foreign"), encoding: .utf8) == "not a store")
    }

    @Test(arguments: [
        ([], "The action is missing"), (["list"], "list' needs a file"), (["lst", "f"], "'lst' is not an action"),
        (["list", "f", "g"], "Remove 'g'."), (["list", "f", "--all"], "--all can only be used with purge."),
        (["purge", "f"], "needs a client id and a broker"),
        (["purge", "f", "-i", "a"], "needs a client id and a broker"),
        (["purge", "f", "--all", "-i", "a", "--broker", "b"], "needs a client id and a broker"),
        (["files", "f"], "takes no file"), (["files", "--rejected"], "--rejected can only be used"),
        (["files", "--all"], "--all can only be used with purge."),
        (["parked"], "'courier store parked' needs an action and a file"), (["parked", "list"], "needs a file"),
        (["parked", "lst", "f"], "'lst' is not an action of 'courier store parked'"),
        (["parked", "show", "f", "x"], "'x' is not the id"), (["parked", "show", "f"], "needs the id of one message"),
        (["parked", "show", "f", "1", "2"], "Remove '2'."), (["parked", "list", "f", "1"], "takes no message id"),
        (["parked", "export", "f", "--all"], "takes no message id and no --all"),
        (["parked", "retry", "f"], "either the id of one message or --all"),
        (["parked", "remove", "f", "1", "--all"], "either the id of one message or --all"),
        (["parked", "list", "f", "--rejected"], "--rejected cannot be used with 'courier store parked'"),
        (["list", "f", "--processor", "p"], "--processor can only be used with 'courier store parked'"),
    ])
    func `courier store refuses missing, unknown and ambiguous arguments`(words: [String], message: String) {
        let error = #expect(throws: ArgumentError.self) {
            var settings = StoreArguments()
            try ArgumentReader(StoreArguments.groups, operands: .accepted { try $0.take($1) })
                .read(words, into: &settings)
            _ = try settings.checked()
        }
        #expect(error?.message.contains(message) == true)
    }
}
