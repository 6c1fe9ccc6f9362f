import CourierCore
import CourierSQLite
import Foundation
import TestSupport
import Testing

@testable import CourierCommands

struct ParkedCommandTests {
    private static let ada = StoreScope(clientID: "ada", broker: "b.example:8883")
    private static let bob = StoreScope(clientID: "bob", broker: "b.example:8883")
    private static let date = Date(timeIntervalSince1970: 1_700_000_000)

    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("messages.store")
    }

    private func open() throws -> SQLiteMessageStore { try SQLiteMessageStore(at: URL(fileURLWithPath: path)) }

    private static func job(
        _ id: UInt64, _ processor: String, isParked: Bool = true, payload: [UInt8] = Array("secret".utf8)
    ) -> StoreChange {
        let message = StoredMessage(
            id: StoredMessage.ID(rawValue: id), topic: "orders/\(id)", payload: payload, qos: .one, storedAt: date)
        let stage =
            isParked
            ? StoredJob.Stage.parked(at: date + 60) : .waiting(.seconds(30), since: StoreTime(date: date))
        let state = StoredJob.State(
            processor: processor, attempts: isParked ? 5 : 1, lastError: "closed\u{7}", stage: stage)
        return .addJob(StoredJob(message, state))
    }

    /// Fills the file with three parked messages and one waiting job of ada, and one parked message of bob.
    private func fill() async throws {
        let store = try open()
        try await StoreEdit.commit(
            [
                Self.job(1, "orders"), Self.job(2, "orders", isParked: false),
                Self.job(3, "invoices", payload: [0xFF, 0]), Self.job(4, "orders"),
            ], in: Self.ada, to: store)
        try await StoreEdit.commit([Self.job(1, "orders")], in: Self.bob, to: store)
        await store.close()
    }

    private func jobs(of scope: StoreScope = ada) async throws -> [StoredJob] {
        let store = try open()
        let jobs = try await store.jobs(in: scope, after: nil, limit: 100)
        await store.close()
        return jobs
    }

    private func parked(_ words: String...) async throws -> ProgramRun.Outcome {
        let courier = try CourierExecutable.path.get()
        return try await ProgramRun([courier, "store", "parked", words[0], path] + words.dropFirst()).end()
    }

    @Test func `the command courier store parked filters messages by client and processor, and list hides payloads`()
        async throws
    {
        try await fill()
        let list = try await parked("list")
        let lines = list.text.split(separator: "\n")
        try #require(list.code == 0 && lines.count == 4, "\(list.text) \(list.errors)")
        #expect(
            lines[0].hasSuffix(
                #": parked 1 "orders/1" QoS 1 6 bytes since 2023-11-14T22:13:20Z of processor "orders" "#
                    + #"5 failed attempts parked at 2023-11-14T22:14:20Z "closed\u{07}""#), "\(lines[0])")
        #expect(!list.text.contains("secret"))
        let some = try await parked("list", "-i", "ada", "--processor", "orders")
        #expect(some.text.split(separator: "\n") == [lines[0], lines[2]], "\(some.text)")
        let export = try await parked("export", "--processor", "invoices")
        #expect(export.text.contains(#""payload":"/wA=""#) && export.text.contains(#""kind":"parked""#))
        #expect(export.text.split(separator: "\n").count == 1)
    }

    @Test func `the commands courier store list, count and export include jobs and parked messages`() async throws {
        try await fill()
        let count = try await StoreCommandTests.store("count", path, "-i", "ada")
        #expect(
            count.text.hasSuffix(": 0 outgoing, 0 incoming, 0 bytes of payload, 1 waiting for a processor, 3 parked\n"))
        let list = try await StoreCommandTests.store("list", path, "-i", "ada")
        let job =
            #": job 2 "orders/2" QoS 1 6 bytes since 2023-11-14T22:13:20Z of processor "orders" 1 failed attempt "#
        #expect(list.text.contains(job + "next attempt at 2023-11-14T22:13:50Z"), "\(list.text)")
        let export = try await StoreCommandTests.store("export", path)
        #expect(export.text.split(separator: "\n").count == 5)
    }

    @Test func `the command courier store parked show prints the payload, the reason and the dates of a message`()
        async throws
    {
        try await fill()
        let show = try await parked("show", "4")
        #expect(
            show.text == """
                id: 4
                client: "ada"
                broker: "b.example:8883"
                processor: "orders"
                topic: "orders/4"
                QoS: 1
                received: 2023-11-14T22:13:20Z
                parked: 2023-11-14T22:14:20Z
                failed attempts: 5
                reason: "closed\\u{07}"
                payload: "secret"

                """, "\(show.text) \(show.errors)")
        #expect(try await parked("show", "3").text.hasSuffix("payload: 2 bytes in Base64: /wA=\n"))
        // A job that waits is not parked.
        let waiting = try await parked("show", "2")
        #expect(waiting.code == 1 && waiting.errors.contains("no parked message with the id 2"), "\(waiting.errors)")
        let ambiguous = try await parked("show", "1")
        #expect(ambiguous.code == 1 && ambiguous.errors.contains("\"bob\" at"), "\(ambiguous.errors)")
        #expect(try await parked("show", "1", "-i", "bob").text.hasPrefix("id: 1\nclient: \"bob\"\n"))
    }

    @Test func `the command courier store parked retry turns selected messages into jobs with 0 failed attempts`()
        async throws
    {
        try await fill()
        let one = try await parked("retry", "4")
        #expect(one.code == 0 && one.text.hasSuffix(": will retry 1 parked message\n"), "\(one.text) \(one.errors)")
        var states = try await jobs().map(\.state)
        #expect(states.map(\.isParked) == [true, false, true, false])
        #expect(states.map(\.attempts) == [5, 1, 5, 0])
        #expect(try await parked("retry", "4").code == 1)
        let all = try await parked("retry", "--all", "--processor", "orders")
        #expect(all.text.split(separator: "\n").count == 2, "\(all.text)")
        states = try await jobs().map(\.state)
        #expect(states.map(\.isParked) == [false, false, true, false])
        #expect(states[0].lastError == "closed\u{7}" && states[0].processor == "orders")
    }

    @Test func `the command courier store parked remove removes the selected messages, but no waiting jobs`()
        async throws
    {
        try await fill()
        #expect(try await parked("remove", "3").text.hasSuffix(": removed 1 parked message\n"))
        #expect(try await jobs().map(\.message.id.rawValue) == [1, 2, 4])
        #expect(try await parked("remove", "--all", "-i", "ada").code == 0)
        #expect(try await jobs().map(\.message.id.rawValue) == [2])
        #expect(try await jobs(of: Self.bob).count == 1)
        let none = try await parked("remove", "--all", "-i", "ada")
        #expect(none.code == 0 && none.errors.contains("No parked message"), "\(none.text) \(none.errors)")
    }

    @Test func `the command courier store parked retry --all selects every message, even beyond the first page`()
        async throws
    {
        let store = try open()
        let changes = (1...250).map { Self.job($0, "orders") }
        try await StoreEdit.commit(changes, in: Self.ada, to: store)
        await store.close()
        #expect(try await parked("retry", "--all").text.contains("250 parked messages"))
        #expect(try await jobs().allSatisfy { !$0.state.isParked })
    }

    @Test(arguments: StoreArguments.ParkedAction.allCases)
    func `while the store is in use, courier store parked can list, show and export, but not retry or remove`(
        action: StoreArguments.ParkedAction
    ) async throws {
        try await fill()
        let store = try open()
        let words = action == .list || action == .export ? [] : ["3"]
        let courier = try CourierExecutable.path.get()
        let outcome = try await ProgramRun([courier, "store", "parked", action.rawValue, path] + words).end()
        let isChange = action == .retry || action == .remove
        #expect(outcome.code == (isChange ? 1 : 0), "\(outcome.errors)")
        #expect(outcome.errors.contains("in use") == isChange && outcome.output.isEmpty == isChange)
        await store.close()
    }

    @Test func `if the store file is missing, the command courier store parked reports an error and creates no file`()
        async throws
    {
        for words in [["list"], ["export"], ["show", "1"], ["retry", "--all"], ["remove", "--all"]] {
            let courier = try CourierExecutable.path.get()
            let outcome = try await ProgramRun([courier, "store", "parked", words[0], path] + words.dropFirst()).end()
            #expect(outcome.code == 1 && outcome.errors.contains("does not exist"))
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
