import CommandArguments
import Foundation
import Glibc
import TestSupport
import Testing

@testable import CourierCommands

/// Several chats on a broker of this program, with lines in and lines out.
struct ChatCommandTests {
    private static func chat(_ broker: RunningBroker, _ name: String, _ options: String...) throws -> PlainChat {
        try PlainChat(broker.place + ["--name", name] + options)
    }

    @Test(arguments: ["5", "311"])
    func `two talk, and see each other come and go`(version: String) async throws {
        let broker = try await RunningBroker()
        let ada = try Self.chat(broker, "ada", "-V", version)
        try await ada.wait(for: "[lobby] -- You are in lobby.")
        let bob = try Self.chat(broker, "bob", "-V", version)
        try await bob.wait(for: "[lobby] -- Here: ada.")
        try await ada.wait(for: "[lobby] -- bob is here.")
        try bob.say("hello, ada 日本")
        try await ada.wait(for: "[lobby] bob: hello, ada 日本")
        try ada.say("/me waves")
        try await bob.wait(for: "[lobby] * ada waves")
        try bob.say("/name robert")
        try await ada.wait(for: "[lobby] -- bob is now robert.")
        try bob.say("/quit")
        #expect(await bob.end() == 0)
        try await ada.wait(for: "[lobby] -- robert is offline.")
        #expect(ada.errors == "" && bob.errors == "")
    }

    @Test func `who is killed is offline by the will, and the broker keeps nothing of them`() async throws {
        let broker = try await RunningBroker()
        let ada = try Self.chat(broker, "ada")
        let bob = try Self.chat(broker, "bob", "-i", "b/o+b")
        try await bob.wait(for: "[lobby] -- You are in lobby.")
        try await ada.wait(for: "[lobby] -- bob is here.", "[lobby] -- Here: bob.")
        kill(try #require(bob.id), SIGKILL)
        try await ada.wait(for: "[lobby] -- bob is offline.")
        let outcome = try await ProgramRun(
            [try CourierExecutable.path.get(), "sub"] + broker.place + ["-t", "courier-chat/#", "-v", "-W", "1"]
        ).end()
        #expect(outcome.text.contains(#""name":"ada""#) && !outcome.text.contains("bob"), "\(outcome.text)")
    }

    @Test func `rooms are apart`() async throws {
        let broker = try await RunningBroker()
        let ada = try Self.chat(broker, "ada", "--room", "lobby", "--room", "a/+ room")
        try await ada.wait(for: "[a/+ room] -- You are in a/+ room.")
        let bob = try Self.chat(broker, "bob", "--room", "a/+ room")
        try await ada.wait(for: "[a/+ room] -- bob is here.")
        try bob.say("in the other one")
        try await ada.wait(for: "[a/+ room] bob: in the other one")
        try bob.say("/join lobby")
        try await ada.wait(for: "[lobby] -- bob is here.")
        try bob.say("/leave a/+ room")
        try await ada.wait(for: "[a/+ room] -- bob has left.")
        try bob.say("here now")
        try await ada.wait(for: "[lobby] bob: here now")
    }

    @Test func `a script says lines in order and ends when the broker has them`() async throws {
        let broker = try await RunningBroker()
        let ada = try Self.chat(broker, "ada")
        try await ada.wait(for: "[lobby] -- You are in lobby.")
        let lines = (0..<3_000).map { "line \($0)" }
        let outcome = try await ProgramRun(
            [try CourierExecutable.path.get(), "chat"] + broker.place + ["--name", "bot"],
            input: Array(lines.map { $0 + "\n" }.joined().utf8)
        ).end()
        #expect(outcome.code == 0 && outcome.errors == "", "\(outcome.errors)")
        try await ada.wait(for: "[lobby] bot: line 2999")
        #expect(ada.output.filter { $0.contains("bot: ") } == lines.map { "[lobby] bot: \($0)" })
    }

    @Test func `a line of mosquitto_pub is enough, and its control characters stay text`() async throws {
        let broker = try await RunningBroker()
        let ada = try Self.chat(broker, "ada")
        try await ada.wait(for: "[lobby] -- You are in lobby.")
        try ChildProcess.run(
            ["/usr/bin/mosquitto_pub"] + broker.place + [
                "-t", "courier-chat/rooms/lobby/messages", "-m", #"{"name":"bot","text":"\u001b[2J\nhi"}"#,
            ])
        try await ada.wait(for: #"[lobby] bot: \u{1B}[2J\nhi"#)
    }

    @Test func `it comes back with its broker, and says what was said meanwhile`() async throws {
        let broker = try await RealBroker()
        let place = ["-h", "127.0.0.1", "-p", "\(broker.port)"]
        let ada = try PlainChat(place + ["--name", "ada"])
        let bob = try PlainChat(place + ["--name", "bob"])
        try await bob.wait(for: "[lobby] -- You are in lobby.")
        try await ada.wait(for: "[lobby] -- bob is here.", "[lobby] -- Here: bob.")
        await broker.stop()
        try await bob.wait { $0.errors.contains("Trying again") }
        try bob.say("are you there?")
        try await broker.start()
        try await bob.wait(for: "[lobby] -- Connected.")
        try await ada.wait(for: "[lobby] -- Connected.")
        // Who is not subscribed yet misses it; what comes then arrives.
        try await ada.wait(for: "[lobby] -- Here: bob.", "[lobby] -- bob is here.")
        try bob.say("hello again")
        try await ada.wait(for: "[lobby] bob: hello again")
        await broker.remove()
    }

    @Test func `a line that the broker refuses is told`() async throws {
        let folder = try TemporaryFolder()
        try "topic read #\ntopic readwrite courier-chat/people/#\n".write(
            toFile: folder.file("acl"), atomically: true, encoding: .utf8)
        chmod(folder.file("acl"), 0o600)
        let broker = try await RealBroker(settings: "acl_file \(folder.file("acl"))")
        let bot = try await ProgramRun(
            [try CourierExecutable.path.get(), "chat", "-h", "127.0.0.1", "-p", "\(broker.port)"],
            input: Array("hello\n".utf8)
        ).end()
        // Mosquitto 2.0 then closes the connection, too, which is told before or behind it.
        #expect(bot.code == 1 && bot.errors.contains("Error: A line was not sent: "), "\(bot.errors)")
        await broker.remove()
    }

    @Test func `without a broker it ends as pub does`() async throws {
        let outcome = try await ProgramRun([
            try CourierExecutable.path.get(), "chat", "-h", "127.0.0.1", "-p", "\(try LocalPort.free())",
        ]).end()
        #expect(outcome.code == 1 && outcome.errorLines.first == "Error: Connection refused")
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `a signal ends it in order`(signal: Int32) async throws {
        let broker = try await RunningBroker()
        let ada = try Self.chat(broker, "ada")
        try await ada.wait(for: "[lobby] -- You are in lobby.")
        let bob = try Self.chat(broker, "bob")
        try await ada.wait(for: "[lobby] -- bob is here.")
        kill(try #require(bob.id), signal)
        #expect(await bob.end() == (128 + signal) << 8)
        try await ada.wait(for: "[lobby] -- bob is offline.")
    }

    @Test(arguments: [
        (["--name", ""], "Invalid name ''."), (["--room", "\u{1B}"], "Invalid name '\u{1B}'."),
        (["-i", "a%%"], "A client id of the chat has no %."), (["-t", "x"], "Unknown option '-t'."),
    ])
    func `what makes no sense is refused`(words: [String], message: String) {
        let error = #expect(throws: ArgumentError.self) {
            var settings = ChatArguments()
            try ArgumentReader(ChatArguments.groups).read(words, into: &settings)
            try settings.complete([:])
        }
        #expect(error?.message == message)
    }

    @Test func `what is not said is made up`() throws {
        var settings = ChatArguments()
        try settings.complete(["USER": "grace"])
        #expect(settings.name?.text == "grace" && settings.rooms.map(\.text) == ["lobby"])
        #expect(settings.connection.clientID?.hasPrefix("chat-") == true)
        var other = ChatArguments()
        try other.complete([:])
        #expect(other.name?.text == "guest\(getpid())" && other.connection.clientID != settings.connection.clientID)
    }
}
