import Foundation
import Glibc
import TestSupport
import Testing

/// How `courier` uses its environment, signals, input, output and exit code.
struct ProcessTests {
    @Test func `pub sends a message even if its environment is empty`() async throws {
        let broker = try await RealBroker()
        let words = [
            try CourierExecutable.path.get(), "pub", "-h", "127.0.0.1", "-p", "\(broker.port)", "-t", "a", "-m", "x",
        ]
        let outcome = try await ProgramRun(words, environment: []).end()
        #expect(outcome == ProgramRun.Outcome(output: [], errors: "", code: 0))
        await broker.remove()
    }

    @Test func `sub exits with 0 and no error if the program that reads its output closes the pipe`() async throws {
        let broker = try await RealBroker()
        let courier = try CourierExecutable.path.get()
        let place = "-h 127.0.0.1 -p \(broker.port)"
        for number in 0..<3 {
            _ = try await ProgramRun(
                ["/bin/sh", "-c", "mosquitto_pub \(place) -t a/\(number) -m \(number) -r -q 1"]).end()
        }
        // The second message is written to a closed pipe. `code` contains the exit code of courier.
        let script = """
            { \(courier) sub \(place) -t 'a/#' 2>err; echo $? >code; } | head -n 1 >/dev/null &
            wait; cat code err
            """
        let folder = try TemporaryFolder()
        let run = try ProgramRun(["/bin/bash", "-c", "cd '\(folder.path)'; \(script)"])
        // Publishes until courier has ended, because it notices the closed pipe only when it writes.
        while !FileManager.default.fileExists(atPath: folder.file("code")) {
            _ = try await ProgramRun(["/bin/sh", "-c", "mosquitto_pub \(place) -t a/9 -m x -q 1"]).end()
        }
        #expect(await run.end().text == "0\n")
        await broker.remove()
    }

    @Test func `courier exits with 1 and an error if its output can not be written`() async throws {
        let broker = try await RunningBroker()
        let courier = try CourierExecutable.path.get()
        let sent = try await ProgramRun([courier, "pub"] + broker.place + ["-t", "a", "-m", "x", "-r", "-q", "1"]).end()
        try #require(sent.code == 0)
        let place = broker.place.joined(separator: " ")
        // The last command prints no message, only packets, because of `-d`.
        for words in ["sub \(place) -t a -C 1", "--help", "sub \(place) -t b -d -W 30"] {
            let outcome = try await ProgramRun(["/bin/sh", "-c", "exec \(courier) \(words) >/dev/full"]).end()
            #expect(outcome.code == 1, "\(words)")
            #expect(outcome.errors == "Error: The output cannot be written: No space left on device.\n", "\(words)")
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `a signal ends pub -l without errors, and the sent lines are received in order`(signal: Int32) async throws {
        let broker = try await RealBroker()
        let recorder = try await Recorder(broker)
        let folder = try TemporaryFolder()
        let place = "-h 127.0.0.1 -p \(broker.port)"
        // The input stays open after the first lines.
        try #require(mkfifo(folder.file("lines"), 0o600) == 0)
        let writer = open(folder.file("lines"), O_RDWR | O_CLOEXEC)
        defer { close(writer) }
        let courier = try CourierExecutable.path.get()
        let run = try ProgramRun(
            ["/bin/sh", "-c", "exec \(courier) pub \(place) -t lines -q 1 -l <'\(folder.file("lines"))'"])
        let text = (0..<20).map { "line \($0)\n" }.joined()
        try #require(write(writer, text, text.utf8.count) == text.utf8.count)
        var messages: [String] = []
        while messages.isEmpty { messages += try await recorder.messages() }
        kill(try #require(run.id), signal)
        let outcome = await run.end()
        #expect(outcome.code == 128 + signal && outcome.errors == "", "it waits for what is under way")
        messages += try await recorder.messages()
        // The number of lines that were sent before the signal depends on the machine.
        let lines = (0..<20).map { number in
            "line \(number)".utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        }
        #expect(messages.count <= 20 && zip(messages, lines).allSatisfy { $0.contains("|\($1)|") }, "\(messages)")
        await broker.remove()
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `a signal ends sub with exit code 0 and no error`(signal: Int32) async throws {
        let broker = try await RealBroker()
        let place = ["-h", "127.0.0.1", "-p", "\(broker.port)"]
        _ = try await ProgramRun(["/usr/bin/mosquitto_pub"] + place + ["-t", "a", "-m", "x", "-r", "-q", "1"]).end()
        for peer in Peer.allCases {
            let run = try ProgramRun(peer.words("sub") + place + ["-t", "a"])
            try await run.wait { !$0.output.isEmpty }
            kill(try #require(run.id), signal)
            let outcome = await run.end()
            #expect(outcome.code == 0 && outcome.text == "x\n" && outcome.errors == "", "\(peer)")
        }
        await broker.remove()
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            ("sub -t a", 0), ("rr -t question -e a -n", 128 + SIGTERM), ("pub -d -t b -q 1 -l <lines", 128 + SIGTERM),
        ])
    func `a signal ends a command even if no program reads its output`(words: String, code: Int32) async throws {
        let broker = try await RealBroker()
        let folder = try TemporaryFolder()
        let place = ["-h", "127.0.0.1", "-p", "\(broker.port)"]
        let large = String(repeating: "x", count: 1 << 20)
        try large.write(toFile: folder.file("large"), atomically: true, encoding: .utf8)
        let lines = String(repeating: "a line\n", count: 10_000)
        try lines.write(toFile: folder.file("lines"), atomically: true, encoding: .utf8)
        let message = ["-t", "a", "-f", folder.file("large"), "-r", "-q", "1"]
        _ = try await ProgramRun(["/usr/bin/mosquitto_pub"] + place + message).end()
        // A pipe that buffers a part of the output. The test does not read it.
        try #require(mkfifo(folder.file("pipe"), 0o600) == 0)
        let pipe = open(folder.file("pipe"), O_RDWR | O_NONBLOCK | O_CLOEXEC)
        defer { close(pipe) }
        let courier = try CourierExecutable.path.get()
        let line = "cd '\(folder.path)'; exec \(courier) \(words) \(place.joined(separator: " ")) >pipe"
        let run = try ProgramRun(["/bin/sh", "-c", line])
        try await run.wait { _ in
            var waiting = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
            return poll(&waiting, 1, 0) == 1
        }
        kill(try #require(run.id), SIGTERM)
        #expect(await run.end().code == code)
        await broker.remove()
    }

    @Test(arguments: ["127.0.0.1", "::1"])
    func `sub -U unsubscribes from a topic that an earlier sub with the same session subscribed to`(_ host: String)
        async throws
    {
        let broker = try await RunningBroker(host: host)
        let courier = try CourierExecutable.path.get()
        func run(_ words: [String]) async throws -> ProgramRun.Outcome {
            try await ProgramRun([courier, words[0]] + broker.place + words.dropFirst()).end()
        }
        let session = ["sub", "-c", "-i", "desk", "-q", "1"]
        #expect(try await run(session + ["-t", "old", "-E"]).code == 0)
        #expect(try await run(session + ["-t", "new", "-U", "old", "-E"]).code == 0)
        for topic in ["old", "new"] {
            #expect(try await run(["pub", "-t", topic, "-m", topic, "-q", "1"]).code == 0)
        }
        let last = try await run(session + ["-t", "new", "-C", "1", "-W", "60"])
        #expect(last.text == "new\n" && last.code == 0, "\(last)")
    }

    @Test func `courier completions exits with 1 if the shell is missing or unknown`() async throws {
        for words in [["completions"], ["completions", "ksh"]] {
            let outcome = try await ProgramRun([try CourierExecutable.path.get()] + words).end()
            #expect(outcome.code == 1 && outcome.errors.contains("bash"), "\(outcome)")
        }
    }

    @Test func `a message that pub --store could not send is sent when pub --store is started again`() async throws {
        let folder = try TemporaryFolder()
        let broker = try await RealBroker()
        await broker.stop()
        let words = [
            try CourierExecutable.path.get(), "pub", "-h", "127.0.0.1", "-p", "\(broker.port)", "-i", "desk",
            "-q", "1",
            "-t", "w", "--store", folder.file("store"),
        ]
        let waiting = try ProgramRun(words + ["-m", "first"])
        try await waiting.wait { $0.errors.contains("stay in") }
        kill(try #require(waiting.id), SIGTERM)
        let outcome = await waiting.end()
        #expect(outcome.code == 128 + SIGTERM && outcome.errorLines.first == "Error: Connection refused")
        try await broker.start()
        let recorder = try await Recorder(broker)
        #expect(try await ProgramRun(words + ["-m", "second"]).end().code == 0)
        let payloads = try await recorder.messages().map { $0.split(separator: "|")[3] }
        #expect(payloads == ["6669727374", "7365636f6e64"])
        await broker.remove()
    }

    @Test func `with --proto, pub sends JSON as Protobuf, and sub prints Protobuf as JSON`() async throws {
        let folder = try TemporaryFolder()
        let broker = try await RealBroker()
        try """
        syntax = "proto3";
        package chat;
        message Note { string text = 1; int32 stars = 2; }
        message Other { bool flag = 1; }
        """.write(toFile: folder.file("chat.proto"), atomically: true, encoding: .utf8)
        let courier = try CourierExecutable.path.get()
        let place = ["-h", "127.0.0.1", "-p", "\(broker.port)", "-t", "notes", "--proto", folder.file("chat.proto")]
        let sent = try await ProgramRun(
            [courier, "pub"] + place + [
                "--message-type", "chat.Note", "-m", #"{"text":"hi","stars":5}"#, "-r", "-q", "1",
            ]
        ).end()
        #expect(sent == ProgramRun.Outcome(output: [], errors: "", code: 0))
        let raw = try await ProgramRun(
            ["/usr/bin/mosquitto_sub", "-h", "127.0.0.1", "-p", "\(broker.port)", "-t", "notes", "-C", "1", "-F", "%x"]
        ).end()
        #expect(raw.text == "0a0268691005\n")
        let got = try await ProgramRun([courier, "sub"] + place + ["--message", "chat.Note", "-C", "1"]).end()
        #expect(got.text == #"{"text":"hi","stars":5}"# + "\n")
        let wrong = try await ProgramRun([courier, "sub"] + place + ["--message", "chat.Nothing"]).end()
        #expect(
            wrong.code == 1 && wrong.errorLines.first?.hasPrefix("Error: There is no message type chat.Nothing") == true
        )
        let missing = try await ProgramRun([courier, "pub"] + place + ["-m", "{}"]).end()
        #expect(
            missing.errorLines.first
                == "Error: --proto needs --message-type, unless the file has exactly one message type.")
        await broker.remove()
    }
}
