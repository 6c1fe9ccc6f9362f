import Foundation
import TestSupport
import Testing

/// Valid command lines of `pub`, run by mosquitto_pub and by courier on the same broker.
struct PublishSideBySideTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let arguments: [String]
        var input: [UInt8]
        var testDescription: String { arguments.joined(separator: " ") }

        init(_ arguments: String..., input: String = "") {
            self.arguments = arguments
            self.input = Array(input.utf8)
        }
    }

    /// `FILE`, `SOCKET` and `PORT` are replaced by values that are known only when the test runs.
    private static let cases = [
        Case("-t", "w", "-m", "x"), Case("-t", "w", "-m", "x", "-q", "1"), Case("-t", "w", "-m", "x", "-q", "2"),
        Case("-t", "w/é", "-m", "grün 😀"), Case("-t", "w", "-n"), Case("-t", "w", "-m", ""),
        Case("-t", "w", "-m", "kept", "-r"), Case("-t", "w", "-n", "-r", "-q", "1"), Case("-t", "w", "-f", "FILE"),
        Case("-t", "w", "-f", "/dev/null"), Case("-t", "w", "-s", input: "all of\nit\n"),
        Case("-t", "w", "-l", input: "one\n\ntwo\nthree"), Case("-t", "w", "-l", "-q", "1", input: "a\nb\n"),
        Case("-t", "w", "-l", "-q", "2", input: "a\r\nb"), Case("-t", "w", "-l", input: ""),
        Case("-t", "w", "-m", "x", "--repeat", "3", "-q", "1"), Case("-t", "w", "-m", "x", "--repeat", "3"),
        Case("-t", "w", "-m", "x", "--repeat", "2", "--repeat-delay", "0.1"),
        Case("-t", "w", "-m", "x", "-V", "5"), Case("-t", "w", "-m", "x", "-V", "mqttv5", "-q", "2"),
        Case(
            "-t", "w", "-m", "x", "-q", "1", "-D", "publish", "content-type", "text/plain", "-D", "publish",
            "response-topic", "r", "-D", "publish", "correlation-data", "c", "-D", "publish",
            "payload-format-indicator", "1", "-D", "publish", "user-property", "k", "v", "-D", "publish",
            "user-property", "k", "w"),
        Case("-t", "w", "-m", "x", "-i", "me", "-c", "-q", "1"), Case("-t", "w", "-m", "x", "-I", "me-", "-k", "30"),
        Case("-t", "w", "-m", "x", "-u", "ada", "-P", "secret"),
        Case("-L", "mqtt://ada:secret@127.0.0.1:PORT/w/url", "-m", "x"),
        Case("--unix", "SOCKET", "-t", "w", "-m", "x", "-q", "1"),
        Case("-t", "w", "-m", "x", "--will-topic", "will", "--will-payload", "gone", "--will-qos", "1"),
        Case("-t", "w", "-m", "x", "--nodelay", "-M", "5"), Case("-t", "w", "-m", "x", "-q", "1", "-d"),
        Case("-t", "w", "-l", "-q", "1", "-M", "1", input: (0..<300).map { "line \($0)\n" }.joined()),
    ]

    @Test func `pub sends the same messages as mosquitto_pub, with the same output and exit code`() async throws {
        let folder = try TemporaryFolder()
        let socket = folder.file("broker.sock")
        let broker = try await RealBroker(socketPath: socket)
        try Data([0, 255, 10, 13] + Array("file".utf8)).write(to: URL(fileURLWithPath: folder.file("payload")))
        let recorder = try await Recorder(broker)
        for line in Self.cases {
            let arguments = line.arguments.map {
                switch $0 {
                case "FILE": folder.file("payload")
                case "SOCKET": socket
                default: $0.replacing("PORT", with: "\(broker.port)")
                }
            }
            let place = ["-h", "127.0.0.1", "-p", "\(broker.port)"]
            var seen: [Peer: ([String], ProgramRun.Outcome)] = [:]
            for peer in Peer.allCases {
                // The path of a Unix socket replaces host and port.
                let words = try peer.words("pub") + (arguments.contains("--unix") ? [] : place) + arguments
                let outcome = try await ProgramRun(words, input: line.input).end()
                seen[peer] = (try await recorder.messages(), outcome)
            }
            let (theirs, ours) = (try #require(seen[.mosquitto]), try #require(seen[.courier]))
            #expect(ours.0 == theirs.0, "messages of \(line.arguments)")
            #expect(ours.1.code == theirs.1.code, "exit code of \(line.arguments)")
            #expect(ours.1.text == theirs.1.text, "output of \(line.arguments)")
            #expect(ours.1.errors == theirs.1.errors, "errors of \(line.arguments)")
        }
        await broker.remove()
    }
}
