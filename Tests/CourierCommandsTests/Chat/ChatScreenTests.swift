import Foundation
import Glibc
import TestSupport
import Testing

@testable import CourierCommands

/// Runs `courier chat` on a terminal of tmux, types keys and checks the screen.
struct ChatScreenTests {
    private static func chat(
        _ place: [String], _ name: String, columns: Int = 80, rows: Int = 16, environment: [String] = []
    ) throws -> TerminalSession {
        try TerminalSession(
            [try CourierExecutable.path.get(), "chat", "--name", name] + place, columns: columns, rows: rows,
            environment: environment)
    }

    private static func chat(
        _ broker: RunningBroker, _ name: String, columns: Int = 80, rows: Int = 16, environment: [String] = []
    ) async throws -> TerminalSession {
        let session = try chat(broker.place, name, columns: columns, rows: rows, environment: environment)
        try await session.wait(for: "You are in lobby.")
        return session
    }

    /// Checks the exit code, and that the terminal's screen, cursor, line wrap and modes are restored.
    private static func expectOrder(_ session: TerminalSession, endsWith code: Int32) async throws {
        try await session.wait(for: "ended with")
        let lines = try session.lines
        #expect(lines.contains("ended with \(code)"), "\(lines)")
        #expect(try session.ask("#{alternate_on} #{cursor_flag} #{wrap_flag}") == "0 1 1")
    }

    @Test func `two chat programs on terminals show messages, unread counts and the list of users`() async throws {
        let broker = try await RunningBroker()
        let ada = try await Self.chat(broker, "ada")
        let bob = try await Self.chat(broker, "bob")
        try await ada.wait { $0.contains { $0.hasSuffix("│ bob") } && $0.contains { $0.contains("2 here") } }
        try await bob.wait(for: "Here: ada.")
        try ada.enter("hello 日本")
        try await bob.wait(for: "ada: hello 日本")
        // The dots of a pending line are gone.
        try await ada.wait { $0.contains { $0.contains("ada: hello 日本") && !$0.contains("…") } }
        try bob.enter("/me waves")
        try await ada.wait(for: "* bob waves")
        try bob.enter("/join tea")
        try await bob.wait { $0[0].hasPrefix(" lobby  tea ") && $0[1].hasSuffix("│ bob") }
        try ada.enter("anybody?")
        try await bob.wait { $0[0].hasPrefix(" lobby 1  tea ") }
        try bob.press("C-p")
        try await bob.wait(for: "ada: anybody?")
        try bob.enter("/quit")
        try await ada.wait(for: "bob is offline.")
        try await Self.expectOrder(bob, endsWith: 0)
    }

    @Test func `the user of a killed chat is removed from the list of users and reported as offline`() async throws {
        let broker = try await RunningBroker()
        let ada = try await Self.chat(broker, "ada")
        let bob = try await Self.chat(broker, "bob")
        try await ada.wait(for: "│ bob")
        kill(try #require(try await bob.id), SIGKILL)
        try await ada.wait { $0.contains { $0.contains("bob is offline.") } && !$0.contains { $0.contains("│ bob") } }
        try await ada.wait(for: "1 here")
    }

    @Test(arguments: [(SIGTERM, 143), (SIGINT, 130), (SIGHUP, 129)] as [(Int32, Int32)])
    func `a signal ends chat and restores the terminal`(signal: Int32, code: Int32) async throws {
        let broker = try await RunningBroker()
        let ada = try await Self.chat(broker, "ada")
        #expect(try ada.ask("#{alternate_on} #{wrap_flag}") == "1 0")
        kill(try #require(try await ada.id), signal)
        try await Self.expectOrder(ada, endsWith: code)
    }

    @Test(arguments: [SIGSEGV, SIGABRT, SIGILL, SIGQUIT])
    func `a crash of chat restores the terminal`(signal: Int32) async throws {
        let broker = try await RunningBroker()
        let ada = try await Self.chat(broker, "ada", environment: ["SWIFT_BACKTRACE=enable=no"])
        kill(try #require(try await ada.id), signal)
        try await Self.expectOrder(ada, endsWith: 128 + signal)
    }

    @Test func `chat exits with 1 and does not retry if the CA file is missing`() async throws {
        let place = ["-h", "127.0.0.1", "-p", "\(try LocalPort.free())", "--cafile", "/missing/ca.pem"]
        let ada = try Self.chat(place, "ada")
        try await Self.expectOrder(ada, endsWith: 1)
        let lines = try ada.lines
        #expect(lines.contains { $0.contains("/missing/ca.pem") }, "\(lines)")
        #expect(!lines.contains { $0.contains("Trying again") }, "\(lines)")
    }

    @Test(arguments: ["C-c", "C-d"])
    func `Ctrl-C and Ctrl-D end chat and restore the terminal`(key: String) async throws {
        let broker = try await RunningBroker()
        let ada = try await Self.chat(broker, "ada")
        try ada.press(key)
        try await Self.expectOrder(ada, endsWith: 0)
    }

    @Test func `Ctrl-Z and SIGTSTP suspend chat, and chat continues when it is resumed in the foreground`() async throws
    {
        let broker = try await RunningBroker()
        let ada = try await Self.chat(broker, "ada")
        try ada.press("C-z")
        try await ada.wait(for: "stopped")
        #expect(try ada.ask("#{alternate_on} #{cursor_flag} #{wrap_flag}") == "0 1 1")
        try ada.press("Enter")
        try await ada.wait(for: "You are in lobby.")
        try ada.enter("still here")
        try await ada.wait { $0.contains { $0.contains("ada: still here") && !$0.contains("…") } }
        kill(try #require(try await ada.id), SIGTSTP)
        // The first "stopped" is visible when the screen is restored, which happens before the process stops.
        try await ada.wait { $0.count { $0.contains("stopped") } == 2 }
        try ada.press("Enter")
        try await ada.wait(for: "ada: still here")
        try ada.enter("/quit")
        try await Self.expectOrder(ada, endsWith: 0)
    }

    @Test func `if no shell can resume chat, Ctrl-Z does not suspend chat`() async throws {
        let broker = try await RunningBroker()
        // `script` starts chat on a new terminal, as the leader of its session.
        let line = "exec \(try CourierExecutable.path.get()) chat --name ada \(broker.place.joined(separator: " "))"
        let ada = try TerminalSession(["/usr/bin/script", "-qec", line, "/dev/null"])
        try await ada.wait(for: "You are in lobby.")
        try ada.press("C-z")
        try ada.enter("still here")
        try await ada.wait(for: "ada: still here")
    }

    @Test(.timeLimit(.minutes(5)))
    func `if SIGCONT arrives before SIGTSTP has suspended chat, chat continues`() async throws {
        let broker = try await RunningBroker()
        let ada = try await Self.chat(broker, "ada")
        let id = try #require(try await ada.id)
        let terminal = open(try ada.ask("#{pane_tty}"), O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { close(terminal) }
        func wait(untilRaw isRaw: Bool) async throws {
            var modes = termios()
            repeat {
                // A terminal does not report changed modes, so the test polls.
                try await Task.sleep(for: .milliseconds(5))
                try #require(tcgetattr(terminal, &modes) == 0)
            } while (modes.c_lflag & tcflag_t(ICANON) == 0) != isRaw
        }
        // From now on the terminal accepts no output.
        try #require(tcflow(terminal, TCOOFF) == 0)
        kill(id, SIGTSTP)
        try await wait(untilRaw: false)
        // Chat stops after a time limit. On a busy machine it has stopped already, and nothing can be checked.
        if try String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8).contains("State:\tT") { return }
        kill(id, SIGCONT)
        try await wait(untilRaw: true)
        try #require(tcflow(terminal, TCOON) == 0)
        try ada.enter("still here")
        try await ada.wait(for: "ada: still here")
    }

    @Test func `Ctrl-L removes the output of other programs from the screen`() async throws {
        let broker = try await RunningBroker()
        let ada = try await Self.chat(broker, "ada")
        let terminal = open(try ada.ask("#{pane_tty}"), O_WRONLY | O_NOCTTY | O_CLOEXEC)
        defer { close(terminal) }
        let news = Array("\u{1B}[8;20HYou have mail.".utf8)
        try #require(write(terminal, news, news.count) == news.count)
        try await ada.wait(for: "You have mail.")
        try ada.press("C-l")
        try await ada.wait { !$0.contains { $0.contains("mail") } && $0.contains { $0.contains("You are in lobby.") } }
    }

    @Test func `chat --plain on a terminal reads and prints plain lines`() async throws {
        let broker = try await RunningBroker()
        let bob = try PlainChat(broker.place + ["--name", "bob"])
        try await bob.wait(for: "[lobby] -- You are in lobby.")
        let ada = try Self.chat(broker.place + ["--plain"], "ada")
        try await ada.wait(for: "[lobby] -- Here: bob.")
        #expect(try ada.ask("#{alternate_on} #{wrap_flag}") == "0 1")
        try ada.enter("hello")
        try await bob.wait(for: "[lobby] ada: hello")
        try bob.say("hi")
        try await ada.wait(for: "[lobby] bob: hi")
        try ada.press("C-d")
        try await Self.expectOrder(ada, endsWith: 0)
    }

    @Test func `chat adapts its screen to a small terminal and to each new size`() async throws {
        let broker = try await RunningBroker()
        let ada = try await Self.chat(broker, "ada", columns: 40, rows: 10)
        try ada.enter("a line that is longer than forty columns are")
        try await ada.wait { lines in
            lines.count == 10 && lines[0].hasPrefix(" lobby ") && lines[0].hasSuffix("connected")
                && lines[7].hasSuffix("      forty columns are") && lines[8].hasPrefix(" ada · 1 here")
        }
        try ada.resize(columns: 90, rows: 20)
        try await ada.wait { lines in
            lines.count == 20 && lines[1].hasSuffix("│ ada")
                && lines[17].contains("ada: a line that is longer than forty columns are")
        }
        try ada.resize(columns: 20, rows: 3)
        try await ada.wait { $0.count == 3 && $0[2] == ">" }
        try ada.resize(columns: 40, rows: 10)
        try await ada.wait { $0.count == 10 && $0[0].hasSuffix("connected") }
    }

    @Test func `chat prints colors unless NO_COLOR is set`() async throws {
        let broker = try await RunningBroker()
        let colour = /\u{1B}\[[0-9;]*3[0-7]m/
        let ada = try await Self.chat(broker, "ada")
        try ada.enter("hello")
        try await ada.wait(for: "ada: hello")
        #expect(try ada.styledLines.contains { $0.contains(colour) })
        let bob = try await Self.chat(broker, "bob", environment: ["NO_COLOR=1"])
        try bob.enter("hello")
        try await bob.wait(for: "bob: hello")
        let lines = try bob.styledLines
        #expect(!lines.contains { $0.contains(colour) } && lines.contains { $0.contains("\u{1B}[") })
    }

    @Test func `a pasted text is sent by Enter, and Up shows the previous line`() async throws {
        let broker = try await RunningBroker()
        let ada = try await Self.chat(broker, "ada")
        try ada.paste("two\nlines")
        try await ada.wait { $0.last == "> two lines" }
        try ada.press("Enter")
        try await ada.wait { $0.last == ">" && $0.contains { $0.contains("ada: two lines") } }
        try ada.press("Up")
        try await ada.wait { $0.last == "> two lines" }
        try ada.press("C-w", "Escape")
        try await ada.wait { $0.last == "> two" }
    }

    @Test func `PageUp and PageDown scroll the messages of chat`() async throws {
        let broker = try await RunningBroker()
        let ada = try await Self.chat(broker, "ada", columns: 50, rows: 10)
        for number in 1...20 { try ada.enter("number \(number).") }
        try await ada.wait { $0.contains { $0.contains("number 20.") } && !$0.contains { $0.contains("number 1.") } }
        try ada.press("PPage", "PPage", "PPage", "PPage")
        try await ada.wait { lines in
            lines.contains { $0.contains("You are in lobby.") } && lines.contains { $0.contains("number 1.") }
                && lines.contains { $0.contains("PageDown: newer lines") }
        }
        try ada.press("NPage", "NPage", "NPage", "NPage")
        try await ada.wait(for: "number 20.")
    }

    @Test func `lines that are typed before the broker starts are sent after chat connects`() async throws {
        let broker = try await RealBroker()
        await broker.stop()
        let ada = try Self.chat(["-h", "127.0.0.1", "-p", "\(broker.port)"], "ada")
        try await ada.wait { $0[0].hasSuffix("no connection") }
        try ada.enter("early")
        try await ada.wait {
            $0.contains { $0.contains("ada: early …") } && $0.contains { $0.contains("waiting lines: 1") }
        }
        try await broker.start()
        try await ada.wait { lines in
            lines[0].hasSuffix(" connected") && lines.contains { $0.contains("ada: early") && !$0.contains("…") }
        }
        await broker.remove()
    }
}
