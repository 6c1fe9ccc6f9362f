import TestSupport
import Testing

/// Command lines that can not be used, given to mosquitto's clients and to ours.
struct MistakesSideBySideTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let command: String
        let arguments: [String]
        /// Where the installed version words it in another way than the newest.
        var newWords: String?
        var testDescription: String { ([command] + arguments).joined(separator: " ") }

        init(_ command: String, _ arguments: String..., newWords: String? = nil) {
            self.command = command
            self.arguments = arguments
            self.newWords = newWords
        }
    }

    @Test(arguments: [
        Case("sub", newWords: "Error: You must specify a topic to subscribe to (-t) or unsubscribe from (-U)."),
        Case("sub", "-Z"), Case("sub", "word"), Case("sub", "-h"), Case("sub", "-p"), Case("sub", "-t"),
        Case("sub", "-t", "a", "-p", "70000"), Case("sub", "-t", "a", "-q", "5"), Case("sub", "-t", "a", "-q"),
        Case("sub", "-t", "a", "-k", "3"), Case("sub", "-t", "a", "-k"), Case("sub", "-M"),
        Case("sub", "-t", "a", "-M", "0"), Case("sub", "-t", "a", "-i", "x", "-I", "y"),
        Case("sub", "-t", "a", "-I", "x", "-i", "y"), Case("sub", "-t", "a", "-i"), Case("sub", "-t", "a", "-I"),
        Case("sub", "-t", "a", "-V", "9"), Case("sub", "-V"), Case("sub", "-t", "a/#/b"), Case("sub", "-t", "a+"),
        Case("sub", "-t", "a", "-T", "#/a"), Case("sub", "-T"), Case("sub", "-U", "a+"), Case("sub", "-U"),
        Case("sub", "-t", "a", "-C", "0"), Case("sub", "-C"), Case("sub", "-t", "a", "-W", "0"), Case("sub", "-W"),
        Case("sub", "-t", "a", "-F", "%z"), Case("sub", "-t", "a", "-F", "%"), Case("sub", "-t", "a", "-F", "\\q"),
        Case("sub", "-F"), Case("sub", "-t", "a", "-x", "abc"), Case("sub", "-t", "a", "-x", "99999999999"),
        Case("sub", "-x"), Case("sub", "-t", "a", "-c"), Case("sub", "-t", "a", "-c", "-V", "5"),
        Case(
            "sub", "-t", "a", "-D", "foo", "content-type", "x",
            newWords: "Error: Invalid command foo given in --property argument."),
        Case(
            "sub", "-t", "a", "-D", "publish", "nosuch", "1",
            newWords: "Error: Invalid property name nosuch given in --property argument."),
        Case("sub", "-t", "a", "-D", "connect", "content-type", "x"), Case("sub", "-t", "a", "-D", "publish"),
        Case("sub", "-t", "a", "-D", "connect", "receive-maximum", "70000"),
        Case("sub", "-t", "a", "-D", "publish", "user-property", "a"),
        Case("sub", "-t", "a", "--random-filter", "0"), Case("sub", "-t", "a", "-R", "--retained-only"),
        Case("sub", "-t", "a", "--will-payload", "x"), Case("sub", "-t", "a", "--will-retain"),
        Case("sub", "-t", "a", "--will-qos", "7"), Case("sub", "-t", "a", "--will-topic", "a/+"),
        Case("sub", "-t", "a", "--cert", "x"), Case("sub", "-t", "a", "--keyform", "pem"), Case("sub", "--cafile"),
        Case("sub", "-o", newWords: "Error: -o argument given but no options file specified."),
        Case("sub", "-L", "ftp://h/t", newWords: "Error: Unsupported URL scheme."), Case("sub", "-L", "mqtt://h"),
        Case("sub", "-L"),
        Case("sub", "-t", "a", "--proxy", "ftp://h"), Case("sub", "-m", "x"), Case("sub", "-r"),
        Case("pub", "-t", "a/+", "-m", "x"), Case("pub", "-t", "a", "-m", "x", "-m", "y"),
        Case("pub", "-t", "a", "-n", "-s"), Case("pub", "-t", "a", "-l", "-f", "x"), Case("pub", "-t", "a"),
        Case("pub", "-m", "a"), Case("pub", "-m"), Case("pub", "-f"), Case("pub", "-t", "a", "-s"),
        Case(
            "pub", "-t", "a", "-f", "/nowhere",
            newWords: "Error: Unable to read file \"/nowhere\": No such file or directory."),
        Case("pub", "-t", "a", "-m", "x", "--repeat", "0"), Case("pub", "--repeat"),
        Case("pub", "-t", "a", "-m", "x", "--repeat-delay", "-1"), Case("pub", "-v"), Case("pub", "-C", "1"),
        Case("rr", "-t", "a", "-m", "x"), Case("rr", "-t", "a", "-e", "b"), Case("rr", "-e", "b/#"), Case("rr", "-e"),
        Case("rr", "-t", "a", "-e", "b", "-m", "x", "-D", "publish", "response-topic", "c"), Case("rr", "-C", "1"),
        Case("pub", "-h", "127.0.0.1", "-p", "1", "-t", "a", "-m", "x"),
        Case("sub", "-h", "127.0.0.1", "-p", "1", "-t", "a"), Case("sub", "-h", "name.invalid", "-t", "a"),
        Case("rr", "-h", "127.0.0.1", "-p", "1", "-t", "a", "-e", "b", "-m", "x"),
        Case("pub", "-h", "127.0.0.1", "-p", "1", "-t", "a", "-m", "x", "--quiet"),
    ])
    func `a mistake has the same words and the same exit code`(line: Case) async throws {
        let theirs = try await ProgramRun(Peer.mosquitto.words(line.command) + line.arguments).end()
        let ours = try await ProgramRun(Peer.courier.words(line.command) + line.arguments).end()
        #expect(ours.code == theirs.code)
        // The usage, which mosquitto's clients print at length, may be anywhere.
        if theirs.errors.isEmpty {
            #expect(ours.errors == "")
        } else {
            #expect(ours.errorLines.first == line.newWords ?? theirs.errorLines.first)
        }
        #expect(ours.output.isEmpty)
        #expect(ours.errorLines.count <= 3)
    }
}
