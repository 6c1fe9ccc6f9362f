import CommandArguments
import CourierTesting
import CourierTransport
import Foundation
import Glibc
import MQTTCodec
import TestSupport
import Testing

@testable import CourierCommands

/// Several `courier chat` processes without a screen, on one `courier broker`.
struct ChatCommandTests {
    private static func chat(_ broker: RunningBroker, _ name: String, _ options: String...) throws -> PlainChat {
        try PlainChat(broker.place + ["--name", name] + options)
    }

    @Test(arguments: ["5", "311"])
    func `two chat programs exchange messages and show when the other user joins, is renamed or leaves`(
        version: String
    ) async throws {
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
        try await ada.wait(for: "[lobby] -- bob is now called robert.")
        try bob.say("/quit")
        #expect(await bob.end() == 0)
        try await ada.wait(for: "[lobby] -- robert is offline.")
        #expect(ada.errors == "" && bob.errors == "")
    }

    @Test func `the user of a killed chat is shown as offline, and the retained presence is removed`() async throws {
        let broker = try await RunningBroker()
        let ada = try Self.chat(broker, "ada")
        let bob = try Self.chat(broker, "bob", "-i", "b/o+b")
        try await bob.wait(for: "[lobby] -- You are in lobby.")
        try await ada.wait(for: "[lobby] -- bob is here.", "[lobby] -- Here: bob.")
        kill(try #require(bob.id), SIGKILL)
        try await ada.wait(for: "[lobby] -- bob is offline.")
        let outcome = try await ProgramRun(
            [try CourierExecutable.path.get(), "sub"] + broker.place + ["-t", "courier-chat/#", "-v", "-W", "10"]
        ).end()
        #expect(outcome.text.contains(#""name":"ada""#) && !outcome.text.contains("bob"), "\(outcome.text)")
    }

    @Test func `messages, joins and departures are shown in the chat room where they happen`() async throws {
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

    @Test func `chat sends all lines from standard input in order and exits with 0`() async throws {
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

    @Test func `a JSON message of mosquitto_pub is shown, with its control characters escaped`() async throws {
        let broker = try await RunningBroker()
        let ada = try Self.chat(broker, "ada")
        try await ada.wait(for: "[lobby] -- You are in lobby.")
        try ChildProcess.run(
            ["/usr/bin/mosquitto_pub"] + broker.place + [
                "-t", "courier-chat/rooms/lobby/messages", "-m", #"{"name":"bot","text":"\u001b[2J\nhi"}"#,
            ])
        try await ada.wait(for: #"[lobby] bot: \u{1B}[2J\nhi"#)
    }

    @Test func `two chat programs reconnect after a broker restart and exchange messages again`() async throws {
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
        // A chat that has not subscribed yet misses the first line. Later lines arrive.
        try await ada.wait(for: "[lobby] -- Here: bob.", "[lobby] -- bob is here.")
        try bob.say("hello again")
        try await ada.wait(for: "[lobby] bob: hello again")
        await broker.remove()
    }

    /// Starts a chat that sends the lines of its standard input and ends.
    private static func script(_ lines: String, _ port: UInt16, _ options: String...) throws -> ProgramRun {
        try ProgramRun(
            [try CourierExecutable.path.get(), "chat", "-h", "127.0.0.1", "-p", "\(port)"] + options,
            input: Array(lines.utf8))
    }

    /// Starts mosquitto with an access control list for topics.
    private static func broker(allowing rules: String...) async throws -> RealBroker {
        let folder = try TemporaryFolder()
        try rules.joined(separator: "\n").write(toFile: folder.file("acl"), atomically: true, encoding: .utf8)
        chmod(folder.file("acl"), 0o600)
        return try await RealBroker(settings: "acl_file \(folder.file("acl"))")
    }

    @Test func `chat reports a line that the broker refuses and exits with 1`() async throws {
        let broker = try await Self.broker(allowing: "topic read #", "topic readwrite courier-chat/people/#")
        let bot = try await Self.script("hello\n", broker.port).end()
        // Mosquitto 2.0 also closes the connection. That error is printed before or after this error.
        #expect(bot.code == 1 && bot.errors.contains("Error: A line was not sent: "), "\(bot.errors)")
        // With `/quit`, chat may end before the broker's refusal arrives.
        let hasty = try await Self.script("hello\n/quit\n", broker.port).end()
        let isTold = hasty.errors.contains("A line was not sent: ") || hasty.errors.contains("1 lines were not sent.")
        #expect(hasty.code == 1 && isTold, "\(hasty.errors)")
        await broker.remove()
    }

    @Test func `chat sends its lines and prints one error if the broker denies all subscriptions`() async throws {
        let broker = try await Self.broker(allowing: "topic write courier-chat/#")
        let bot = try await Self.script("hello\n", broker.port).end()
        #expect(bot.code == 0, "\(bot.errors)")
        let words = "Error: The list of people online is not available: "
        #expect(bot.errors == words + "the broker does not send the presence messages to this program.\n")
        await broker.remove()
    }

    @Test func `chat sends the next line before the previous line is acknowledged`() async throws {
        let gate = ScriptGate()
        let room = "courier-chat/rooms/lobby/messages"
        let broker = try ScriptedBroker.start(
            afterwards: [.accept(), .serve(until: .publish(to: room)), .fault(.hold(.pubAck, until: gate)), .answer],
            at: .tcp(port: try LocalPort.free()))
        let bot = try Self.script("one\ntwo\nthree\n", broker.port)
        try await broker.received(.publish(to: room), number: 3)
        gate.release()
        let outcome = await bot.end()
        #expect(outcome.code == 0, "\(outcome.errors)")
        let texts = try await broker.packets(.publish(to: room)).map { packet in
            guard case .publish(let publish) = packet.packet else { return "" }
            return try JSONDecoder().decode(ChatMessage.self, from: Data(publish.payload)).text
        }
        // On a busy machine the gate may open so late that the lines are sent again.
        #expect(texts.prefix(3) == ["one", "two", "three"])
        await broker.shutdown()
    }

    @Test func `if lines were not acknowledged, chat prints the number of these lines and exits with 1`() async throws {
        let broker = try ScriptedBroker.start(
            afterwards: [.accept(), .serve(until: .publish(to: "courier-chat/rooms/lobby/messages")), .stall],
            at: .tcp(port: try LocalPort.free()))
        let outcome = try await Self.script("one\ntwo\n/quit\n", broker.port).end()
        #expect(outcome.code == 1 && outcome.errors.contains("Warning: 2 lines were not sent.\n"), "\(outcome.errors)")
        await broker.shutdown()
    }

    @Test(arguments: [
        ("/dance\n", "There is no command /dance. Type /help to list the commands."),
        ("/leave\nhello\n", "You are in no room. Type /join ROOM to join a room."),
        (String(repeating: "x", count: 4_001) + "\n", "This line was not sent, because it is longer than 4000 bytes."),
        (String(repeating: "x", count: 200_000), "The rest of the input cannot be read: Message too long."),
    ])
    func `chat prints an error and exits with 1 if a line of its input is invalid`(lines: String, problem: String)
        async throws
    {
        let broker = try await RunningBroker()
        let outcome = try await Self.script("first\n" + lines + "last\n", broker.port).end()
        #expect(outcome.code == 1 && outcome.errors.contains("Error: \(problem)\n"), "\(outcome.errors)")
    }

    @Test func `chat exits with 1 if its standard input can not be read`() async throws {
        let broker = try await RunningBroker()
        let courier = try CourierExecutable.path.get()
        let line = "exec \(courier) chat \(broker.place.joined(separator: " ")) </"
        let outcome = try await ProgramRun(["/bin/sh", "-c", line]).end()
        #expect(outcome.code == 1)
        #expect(outcome.errors == "Error: The rest of the input cannot be read: Is a directory.\n")
    }

    @Test func `chat exits with 1 if the broker refuses the subscription of a room`() async throws {
        var configuration = BrokerConfiguration()
        configuration.access.rules = [.init(.deny, .subscribe, "courier-chat/rooms/secret/#")]
        let broker = try LoopbackBroker.start(
            on: .tcp(port: try LocalPort.free()), configuration: configuration)
        let ada = try PlainChat(["-h", "127.0.0.1", "-p", "\(broker.port)", "--room", "secret", "--room", "lobby"])
        try await ada.wait { $0.errors.contains("Error: The broker refuses the room secret: ") }
        try ada.say("/quit")
        #expect(await ada.end() == 1 << 8)
        await broker.shutdown()
    }

    @Test func `chat started by nohup continues after SIGHUP`() async throws {
        let broker = try await RunningBroker()
        let ada = try Self.chat(broker, "ada")
        try await ada.wait(for: "[lobby] -- You are in lobby.")
        let bob = try PlainChat(broker.place + ["--name", "bob"], startedBy: ["/usr/bin/nohup"])
        try await ada.wait(for: "[lobby] -- bob is here.")
        kill(try #require(bob.id), SIGHUP)
        try bob.say("still here")
        try await ada.wait(for: "[lobby] bob: still here")
        try bob.say("/quit")
        #expect(await bob.end() == 0)
    }

    @Test func `chat exits with 1 and prints Connection refused if no broker listens`() async throws {
        let outcome = try await ProgramRun([
            try CourierExecutable.path.get(), "chat", "-h", "127.0.0.1", "-p", "\(try LocalPort.free())",
        ]).end()
        #expect(outcome.code == 1 && outcome.errorLines.first == "Error: Connection refused")
    }

    @Test func `chat without a screen connects with an older MQTT version if MQTT 5 is refused`() async throws {
        let broker = try ScriptedBroker.start(
            [.connection([.expect(.connect), .sendBytes([0x20, 2, 0, 1]), .cut(.orderly)])],
            at: .tcp(port: try LocalPort.free()))
        let ada = try PlainChat(["-h", "127.0.0.1", "-p", "\(broker.port)", "--name", "ada"])
        try await ada.wait(for: "[lobby] -- You are in lobby.")
        #expect(await broker.connections.map(\.connect?.version) == [.v5, .v311])
        kill(try #require(ada.id), SIGTERM)
        #expect(await ada.end() == (128 + SIGTERM) << 8)
        #expect(!ada.errors.contains("Connection error"), "\(ada.errors)")
        await broker.shutdown()
    }

    @Test func `chat exits with the reason code if the broker refuses the client id on reconnect`() async throws {
        let broker = try ScriptedBroker.start(
            [.connection([.accept(), .cut(.orderly)])], afterwards: [.refuse(.clientIdentifierNotValid)],
            at: .tcp(port: try LocalPort.free()))
        let ada = try PlainChat(["-h", "127.0.0.1", "-p", "\(broker.port)", "--name", "ada"])
        #expect(await ada.end() == 0x85 << 8)
        #expect(ada.errors.hasSuffix("\nConnection error: Client Identifier not valid\n"), "\(ada.errors)")
        await broker.shutdown()
    }

    @Test func `chat returns to the first broker if the broker named by a redirect refuses the connection`()
        async throws
    {
        let named = try ScriptedBroker.start(
            afterwards: [.refuse(.unsupportedProtocolVersion)], at: .tcp(port: try LocalPort.free()))
        let reference = Property.serverReference("127.0.0.1:\(named.port)")
        let broker = try ScriptedBroker.start(
            [
                .connection([.accept(), .cut(.orderly)]),
                .connection([.refuse(.useAnotherServer, properties: [reference])]),
            ],
            at: .tcp(port: try LocalPort.free()))
        let ada = try PlainChat(["-h", "127.0.0.1", "-p", "\(broker.port)", "--name", "ada"])
        _ = try await broker.received(.subscribe, on: 3)
        kill(try #require(ada.id), SIGTERM)
        #expect(await ada.end() == (128 + SIGTERM) << 8)
        await named.shutdown()
        await broker.shutdown()
    }

    @Test func `chat exits with the reason code if the first broker refuses the client id after a redirect`()
        async throws
    {
        let named = try ScriptedBroker.start(
            afterwards: [.refuse(.unsupportedProtocolVersion)], at: .tcp(port: try LocalPort.free()))
        let reference = Property.serverReference("127.0.0.1:\(named.port)")
        let broker = try ScriptedBroker.start(
            [
                .connection([.accept(), .cut(.orderly)]),
                .connection([.refuse(.useAnotherServer, properties: [reference])]),
            ],
            afterwards: [.refuse(.clientIdentifierNotValid)], at: .tcp(port: try LocalPort.free()))
        let ada = try PlainChat(["-h", "127.0.0.1", "-p", "\(broker.port)", "--name", "ada"])
        #expect(await ada.end() == 0x85 << 8)
        #expect(ada.errors.hasSuffix("\nConnection error: Client Identifier not valid\n"), "\(ada.errors)")
        await named.shutdown()
        await broker.shutdown()
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `a signal ends chat, and another chat shows the user as offline`(signal: Int32) async throws {
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
        (["-i", "a%%"], "The client id of a chat client must not contain %."),
        (["-i", String(repeating: "x", count: 1_025)], "The client id of a chat client has at most 1024 bytes."),
        (["-t", "x"], "Unknown option '-t'."),
    ])
    func `chat refuses invalid names, rooms, client ids and options`(words: [String], message: String) {
        let error = #expect(throws: ArgumentError.self) {
            var settings = ChatArguments()
            try ArgumentReader(ChatArguments.groups).read(words, into: &settings)
            try settings.complete([:])
        }
        #expect(error?.message == message)
    }

    @Test func `chat chooses a name, a room and a client id if their options are missing`() throws {
        var settings = ChatArguments()
        try settings.complete(["USER": "grace"])
        #expect(settings.name?.text == "grace" && settings.rooms.map(\.text) == ["lobby"])
        #expect(settings.connection.clientID?.hasPrefix("chat-") == true)
        var other = ChatArguments()
        try other.complete([:])
        #expect(other.name?.text == "guest\(getpid())" && other.connection.clientID != settings.connection.clientID)
    }
}
