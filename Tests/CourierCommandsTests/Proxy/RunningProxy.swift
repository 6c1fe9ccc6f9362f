import Glibc
import TestSupport
import Testing

/// A running `courier proxy` process on a free port.
final class RunningProxy: Sendable {
    let port: UInt16
    let run: ProgramRun

    /// Starts the proxy in front of a broker, and waits for the last line of its banner.
    init(to broker: UInt16, _ options: [String] = []) async throws {
        // The umask 0 shows that the proxy itself protects its files.
        run = try ProgramRun(
            ["/bin/sh", "-c", "umask 0; exec \"$@\"", "sh", try CourierExecutable.path.get()]
                + ["proxy", "--to", "127.0.0.1:\(broker)", "--listen", "0"] + options)
        try await run.wait { $0.text.contains("Ctrl-C") }
        port = try #require(run.text.firstMatch(of: #/listens on 127\.0\.0\.1:(\d+) /#).flatMap { UInt16($0.1) })
    }

    /// mosquitto_sub with a line for each packet. Without `stdbuf`, the lines appear in a file only at the end.
    static let subscriber = ["/usr/bin/stdbuf", "-oL", "/usr/bin/mosquitto_sub", "-d"]

    /// The options of a client of mosquitto that connects to the proxy.
    var place: [String] { ["-h", "127.0.0.1", "-p", "\(port)"] }

    /// Ends the proxy by a signal, and returns its output.
    func end(by signal: Int32 = SIGTERM) async throws -> ProgramRun.Outcome {
        kill(try #require(run.id), signal)
        return await run.end()
    }
}

extension ProgramRun {
    var text: String { String(decoding: output, as: UTF8.self) }
}
