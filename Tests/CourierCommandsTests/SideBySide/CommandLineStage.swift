import Foundation
import TestSupport

/// The brokers and files that the lines of the ``CommandLineTable`` name.
final class CommandLineStage: Sendable {
    /// The broker that accepts every client and message, and has retained messages.
    private let broker: RealBroker
    /// The broker that uses TLS.
    private let secure: RealBroker
    /// The broker that requires a user name and a password, and lets that user publish to `open` only.
    private let strict: RealBroker
    private let folder: TemporaryFolder

    /// The help text of each program and command, which can be part of a line's output.
    private let help: [Peer: [String: String]]

    init() async throws {
        folder = try TemporaryFolder()
        try Data([0, 255, 10, 13] + Array("file".utf8)).write(to: URL(fileURLWithPath: folder.file("payload")))
        let certificates = try await Certificates.shared
        for name in ["ca.pem", "client.pem", "client.key"] {
            try FileManager.default.copyItem(atPath: certificates.folder.file(name), toPath: folder.file(name))
        }
        broker = try await RealBroker(socketPath: folder.file("broker.sock"))
        secure = try await RealBroker(
            settings: """
                cafile \(certificates.authorityFile)
                certfile \(certificates.folder.file("server.pem"))
                keyfile \(certificates.folder.file("server.key"))
                """)
        let passwords = folder.file("passwords")
        _ = try await ProgramRun(["/usr/bin/mosquitto_passwd", "-b", "-c", passwords, "ada", "secret"]).end()
        let rights = folder.file("rights")
        try "user ada\ntopic readwrite open\ntopic read shut\n".write(toFile: rights, atomically: true, encoding: .utf8)
        // With max_queued_messages 0, mosquitto 2.0.11 closes the connection after each message that it refuses.
        strict = try await RealBroker(
            settings: """
                allow_anonymous false
                password_file \(passwords)
                acl_file \(rights)
                max_queued_messages 1000
                """)
        var help: [Peer: [String: String]] = [:]
        for peer in Peer.allCases {
            for command in ["pub", "sub", "rr"] {
                let text = try await ProgramRun(peer.words(command) + ["--help"]).end().text
                help[peer, default: [:]][command] = peer == .mosquitto ? Self.renamed(text, command) : text
            }
        }
        self.help = help
        try await retain()
    }

    /// Ends the brokers.
    func remove() async {
        await broker.remove()
        await secure.remove()
        await strict.remove()
    }

    /// Publishes retained messages. The lines of `sub` end after they received them.
    private func retain() async throws {
        let messages: KeyValuePairs = [
            "s/one": "one", "s/two": "two", "s/json": "{\"n\": [1, 2.5, \"x\"]}", "s/text": "line \"1\"\nline 2\ttab",
            "r/mosquitto": "bye", "r/courier": "bye",
        ]
        let publish = ["/usr/bin/mosquitto_pub", "-h", "127.0.0.1", "-p", "\(broker.port)", "-q", "1", "-r"]
        for (topic, text) in messages { _ = try await ProgramRun(publish + ["-t", topic, "-m", text]).end() }
        var properties: [String] = []
        for words in [
            ["content-type", "text/plain"], ["response-topic", "answers"], ["correlation-data", "c"],
            ["payload-format-indicator", "1"], ["user-property", "k", "v"],
        ] {
            properties += ["-D", "publish"] + words
        }
        _ = try await ProgramRun(publish + ["-t", "s/five", "-m", "five"] + properties).end()
    }

    /// Runs a line with one program. The outcome can be compared with the outcome of the other program.
    func outcome(of line: TypedLine, by peer: Peer) async throws -> ProgramRun.Outcome {
        let arguments = line.arguments.flatMap { expanded($0, peer) }
        var outcome = try await ProgramRun(peer.words(line.command) + arguments, input: line.input).end()
        if peer == .mosquitto {
            outcome.errors = Self.renamed(outcome.errors, line.command)
            outcome.output = Array(Self.renamed(outcome.text, line.command).utf8)
        }
        // The programs differ in the text of the help. They must print it in the same place.
        if let help = help[peer]?[line.command], !help.isEmpty {
            outcome.output = Array(outcome.text.replacing(help, with: "HELP\n").utf8)
        }
        return outcome
    }

    /// A text of mosquitto's clients in which the program's name is replaced by `courier`.
    private static func renamed(_ text: String, _ command: String) -> String {
        text.replacing("mosquitto_\(command)", with: "courier \(command)")
    }

    /// The words that a word of a line stands for.
    private func expanded(_ word: String, _ peer: Peer) -> [String] {
        switch word {
        case "BROKER": ["-h", "127.0.0.1", "-p", "\(broker.port)"]
        case "STRICT": ["-h", "127.0.0.1", "-p", "\(strict.port)"]
        case "SECURE": ["-h", "localhost", "-p", "\(secure.port)"]
        case "NOBODY": ["-h", "127.0.0.1", "-p", "1"]
        case "LONG": [String(repeating: "a", count: 65_537)]
        default:
            [
                word.replacing("PEER", with: peer.rawValue).replacing("STRICTPORT", with: "\(strict.port)")
                    .replacing("CLOSEDPORT", with: "1").replacing("PORT", with: "\(broker.port)")
                    .replacing("FOLDER", with: folder.path)
            ]
        }
    }
}
