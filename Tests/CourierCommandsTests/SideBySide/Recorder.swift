import Foundation
import TestSupport

/// A mosquitto_sub process that records every message on its broker with its MQTT 5 properties.
final class Recorder: Sendable {
    struct Gone: Error {}

    private let broker: RealBroker
    private let process: ChildProcess
    private let mark = "recorder/mark"

    /// Subscribes to all topics, and returns when the subscription is active.
    init(_ broker: RealBroker) async throws {
        self.broker = broker
        let arguments = [
            "-h", "127.0.0.1", "-p", "\(broker.port)", "-V", "5", "-q", "2", "-t", "#", "--retain-as-published", "-F",
            "%t|%q|%r|%x|%C|%D|%E|%F|%P|%R",
        ]
        try await Self.run([
            "/usr/bin/mosquitto_pub", "-h", "127.0.0.1", "-p", "\(broker.port)", "-t", mark, "-m", "0", "-r",
        ])
        process = try ChildProcess(["/usr/bin/mosquitto_sub"] + arguments)
        _ = try await lines(to: "0")
    }

    /// Waits for all messages that were sent before this call, and returns the messages since the last call.
    func messages() async throws -> [String] {
        let word = UUID().uuidString
        try await Self.run([
            "/usr/bin/mosquitto_pub", "-h", "127.0.0.1", "-p", "\(broker.port)", "-t", mark, "-m", word, "-q", "1",
        ])
        return try await lines(to: word)
    }

    private func lines(to word: String) async throws -> [String] {
        let digits = word.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { [process, mark] in
                var said = ""
                while true {
                    let part = process.read()
                    if part.isEmpty { return continuation.resume(throwing: Gone()) }
                    said += String(decoding: part, as: UTF8.self)
                    guard said.contains("\(mark)|"), said.hasSuffix("\n"), said.contains("|\(digits)|") else {
                        continue
                    }
                    let lines = said.split(separator: "\n").map(String.init)
                    return continuation.resume(returning: lines.filter { !$0.hasPrefix(mark) })
                }
            }
        }
    }

    private static func run(_ words: [String]) async throws { _ = try await ProgramRun(words).end() }
}
