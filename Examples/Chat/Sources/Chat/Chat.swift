import Foundation

/// A chat room whose members use tokens that expire. README.md describes what to try.
@main @MainActor struct Chat {
    private struct Mistake: Error { let sentence: String }

    private static let usage = """
        usage: Chat                                  a server and two people in this process
               Chat server [--lifetime SECONDS]      a token service and a broker; tokens last 30 s by default
               Chat join NAME --auth URL [options]   says what is typed, shows what the others say
          --broker PORT   the broker's port, where it is not the one that the token service names
          --protobuf      speak protobuf instead of JSON
        The secret of the room is in CHAT_SECRET, "sesame" by default.
        """

    static func main() async {
        do {
            try await run(CommandLine.arguments.dropFirst())
        } catch let mistake as Mistake {
            fail("\(mistake.sentence)\n\(usage)", status: 2)
        } catch {
            fail("\(error)", status: 1)
        }
    }

    private static func run(_ arguments: ArraySlice<String>) async throws {
        let secret = ProcessInfo.processInfo.environment["CHAT_SECRET"] ?? "sesame"
        var words = arguments.makeIterator()
        switch words.next() {
        case nil: try await Story().play()
        case "--help": say(usage)
        case "server":
            var lifetime = 30
            while let option = words.next() {
                guard option == "--lifetime" else { throw Mistake(sentence: "\(option) is no option of server") }
                lifetime = try value(words.next(), of: option) { Int($0) }
                guard (1...86_400).contains(lifetime) else { throw Mistake(sentence: "a token lasts 1 s to a day") }
            }
            try await serve(TokenOffice(secret: secret, lifetime: .seconds(lifetime)))
        case "join":
            let name = try value(words.next(), of: "join") { $0.allSatisfy(\.isLetter) ? $0 : nil }
            var url: URL?
            var port: UInt16?
            var format = Format.json
            while let option = words.next() {
                switch option {
                case "--auth": url = try value(words.next(), of: option) { URL(string: $0) }
                case "--broker": port = try value(words.next(), of: option) { UInt16($0) }
                case "--protobuf": format = .protobuf
                default: throw Mistake(sentence: "\(option) is no option of join")
                }
            }
            guard let url else { throw Mistake(sentence: "join lacks --auth URL") }
            let tokens = Tokens(name: name, secret: secret, url: url, brokerPort: port)
            try await Member(tokens, format) { say("\(name) \($0)") }.stay { Keyboard.lines() }
            say("\(name) has left")
        case let word?: throw Mistake(sentence: "\(word) is no command")
        }
    }

    /// Runs the server until Ctrl-C.
    private static func serve(_ office: TokenOffice) async throws {
        let server = try Server(office) { say($0) }
        say("tokens: \(server.tokenURL)\nbroker: 127.0.0.1, port \(server.brokerPort)")
        let (ends, end) = AsyncStream.makeStream(of: Never.self)
        Interrupt.first { end.finish() }
        for await _ in ends {}
        await server.stop()
    }

    private static func value<Value>(
        _ text: String?, of option: String, _ read: (String) -> Value?
    ) throws(Mistake) -> Value {
        guard let text else { throw Mistake(sentence: "\(option) lacks its value") }
        guard let value = read(text) else { throw Mistake(sentence: "\(option) can not be \"\(text)\"") }
        return value
    }

    private static func fail(_ text: String, status: Int32) -> Never {
        try? FileHandle.standardError.write(contentsOf: Data("Chat: \(text)\n".utf8))
        exit(status)
    }
}

/// Prints a line without the buffer of `print`, so that it is visible at once, even through a pipe.
func say(_ line: String) { try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8)) }
