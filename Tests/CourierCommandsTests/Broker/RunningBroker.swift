import TestSupport

/// A `courier broker` that listens.
final class RunningBroker: Sendable {
    struct Silent: Error, CustomStringConvertible {
        let description: String
    }

    let port: UInt16
    let run: ProgramRun

    /// Starts it on a port that nobody else takes, and waits for the last line of its banner.
    init(_ options: [String] = []) async throws {
        port = try LocalPort.free()
        run = try ProgramRun([try CourierExecutable.path.get(), "broker", "-p", "\(port)"] + options)
        while !Self.text(run).contains("Ctrl-C") {
            guard run.id != nil else { throw Silent(description: run.errors) }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// What a client on this machine types to reach it.
    var place: [String] { ["-h", "127.0.0.1", "-p", "\(port)"] }

    static func text(_ run: ProgramRun) -> String { String(decoding: run.output, as: UTF8.self) }
}
