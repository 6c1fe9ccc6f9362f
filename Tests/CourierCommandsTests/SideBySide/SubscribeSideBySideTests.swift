import Foundation
import TestSupport
import Testing

/// Valid command lines of `sub`, run by mosquitto_sub and by courier on the same broker.
///
/// The messages are on the broker before a program starts, retained or in its session, so that the result does not
/// depend on timing.
struct SubscribeSideBySideTests {
    struct Case: Sendable {
        /// Where the messages wait: retained, or in a session with QoS 1.
        enum Waiting: Sendable { case retained, session, nothing }

        let waiting: Waiting
        let arguments: [String]

        init(_ waiting: Waiting, _ arguments: String...) {
            self.waiting = waiting
            self.arguments = arguments
        }
    }

    /// Topics and payloads. The payloads are text, because they are arguments of mosquitto_pub.
    private static let messages = [
        ("s/a", "one"), ("s/b", "{\"n\": [1, 2.5, \"x\"]}"), ("s/c", "line \"1\"\nline 2\ttab"), ("s/d", "grün"),
        ("s/e", ""),
    ]

    private static let cases = [
        Case(.retained, "-t", "s/a", "-C", "1"), Case(.retained, "-t", "s/+", "-C", "4"),
        Case(.retained, "-t", "s/+", "-C", "4", "-v"), Case(.retained, "-t", "s/+", "-C", "4", "-v", "-N"),
        Case(.retained, "-t", "s/a", "-t", "s/d", "-C", "2", "-N"),
        Case(.retained, "-t", "s/+", "-C", "2", "-T", "s/a", "-T", "s/c"),
        Case(.retained, "-t", "s/a", "-R", "-W", "3"), Case(.retained, "-t", "s/+", "-v", "-W", "3"),
        Case(.retained, "-t", "s/+", "-C", "4", "-F", "%t|%p|%q|%r|%l|%m|%x|%X"),
        Case(.retained, "-t", "s/a", "-C", "1", "-F", "%10t|%-10t|%.2t|%5p|%-5p|%05p|%2p|%5l|%05l|%%|@@|\\t|\\\\"),
        Case(.retained, "-t", "s/b", "-C", "1", "-F", "%j"), Case(.retained, "-t", "s/b", "-C", "1", "-F", "%J"),
        Case(.retained, "-t", "s/b", "-C", "1", "-F", "%J", "--pretty"),
        Case(.retained, "-t", "s/c", "-C", "1", "-F", "%j"), Case(.retained, "-t", "s/c", "-C", "1", "-F", "%J"),
        Case(.retained, "-t", "s/a", "-C", "1", "-V", "5", "-F", "%C|%5C|%D|%E|%F|%P|%R|%A|%S|"),
        Case(.retained, "-t", "s/+", "-V", "5", "--retain-as-published", "-C", "3", "-F", "%t %r %p"),
        Case(.retained, "-t", "s/never", "-E"), Case(.retained, "-t", "s/none", "-E", "-q", "2"),
        Case(.retained, "-t", "s/none", "-W", "3"), Case(.retained, "-t", "s/none", "-W", "3", "--quiet"),
        Case(.retained, "-t", "s/a", "-C", "1", "-d", "-i", "debugger"),
        Case(.retained, "-t", "s/a", "-C", "1", "-q", "1", "-d", "-i", "debugger"),
        Case(.retained, "-L", "mqtt://127.0.0.1:PORT/s/a", "-C", "1"),
        Case(.session, "-C", "4"), Case(.session, "-C", "4", "-v"), Case(.session, "-C", "2", "-F", "%t %p %q %r"),
        Case(.session, "-C", "5", "-F", "[%p]"), Case(.session, "-V", "5", "-C", "3", "-F", "%t %p %q"),
        Case(.session, "-C", "4", "-T", "s/b"), Case(.session, "--retained-only", "-v"),
    ]

    /// The lines run in three parts, each with its own broker, because some lines wait for a timeout.
    @Test(arguments: 0..<3) func `sub prints the same output as mosquitto_sub, with the same exit code`(part: Int)
        async throws
    {
        let broker = try await RealBroker(settings: "retain_available true")
        let place = ["-h", "127.0.0.1", "-p", "\(broker.port)"]
        func publish(_ topic: String, _ payload: String, _ more: String...) async throws {
            let payload = payload.isEmpty ? ["-n"] : ["-m", payload]
            let outcome = try await ProgramRun(["/usr/bin/mosquitto_pub"] + place + ["-t", topic] + payload + more)
                .end()
            try #require(outcome.code == 0)
        }
        for (number, line) in Self.cases.enumerated() where number % 3 == part {
            var seen: [Peer: ProgramRun.Outcome] = [:]
            for peer in Peer.allCases {
                var arguments = line.arguments.map { $0.replacing("PORT", with: "\(broker.port)") }
                switch line.waiting {
                case .nothing: break
                case .retained:
                    for (topic, payload) in Self.messages { try await publish(topic, payload, "-r", "-q", "1") }
                case .session:
                    for (topic, _) in Self.messages { try await publish(topic, "", "-r", "-q", "1") }
                    let session =
                        ["-c", "-i", "session-\(number)-\(peer)", "-q", "1", "-t", "s/+"]
                        + (arguments.contains("-V") ? ["-V", "5"] : [])
                    let made = try await ProgramRun(["/usr/bin/mosquitto_sub"] + place + session + ["-E"]).end()
                    try #require(made.code == 0)
                    for (topic, payload) in Self.messages { try await publish(topic, payload, "-q", "1") }
                    arguments += session
                }
                seen[peer] = try await ProgramRun(peer.words("sub") + place + arguments).end()
            }
            let (theirs, ours) = (try #require(seen[.mosquitto]), try #require(seen[.courier]))
            #expect(ours.code == theirs.code, "exit code of \(line)")
            #expect(Self.comparable(ours.text) == Self.comparable(theirs.text), "output of \(line)")
            #expect(ours.errors == theirs.errors, "errors of \(line)")
        }
        await broker.remove()
    }

    /// The text without the time, and with `retain` written as in the newest version of mosquitto.
    private static func comparable(_ text: String) -> String {
        text.replacing(/"tst":\t?"[^"]*"/, with: "\"tst\":0")
            .replacing(/"retain":(\t?)1/) { "\"retain\":\($0.1)true" }
            .replacing(/"retain":(\t?)0/) { "\"retain\":\($0.1)false" }
    }
}
