import TestSupport

/// A running `courier broker` process.
final class RunningBroker: Sendable {
    let port: UInt16
    private let host: String
    let run: ProgramRun

    /// Starts the broker on a free port and waits for the last line of its banner.
    init(_ options: [String] = [], host: String = "127.0.0.1") async throws {
        port = try LocalPort.free()
        self.host = host
        run = try ProgramRun([try CourierExecutable.path.get(), "broker", "-p", "\(port)", "-h", host] + options)
        try await run.wait { Self.text($0).contains("Ctrl-C") }
    }

    /// The options of a client that connects to this broker.
    var place: [String] { ["-h", host, "-p", "\(port)"] }

    static func text(_ run: ProgramRun) -> String { String(decoding: run.output, as: UTF8.self) }
}
