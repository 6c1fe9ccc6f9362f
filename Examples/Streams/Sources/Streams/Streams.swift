import CourierTesting
import Foundation

/// MQTT over streams that are not sockets, with a peer that forwards a few bytes at a time.
///
///     swift run Streams          with a broker in this process
///     swift run Streams 1883     with the broker on this port of 127.0.0.1
@main struct Streams {
    static func main() async {
        // Without this, a write to a closed stream would end the process. Now the write returns an error.
        signal(SIGPIPE, SIG_IGN)
        do {
            let argument = CommandLine.arguments.dropFirst().first
            guard let argument else {
                let broker = try LoopbackBroker.start()
                try await run(brokerPort: broker.port)
                return await broker.shutdown()
            }
            guard let port = UInt16(argument), port > 0 else {
                throw Conversation.Broken(description: "\(argument) is no port")
            }
            try await run(brokerPort: port)
        } catch {
            try? FileHandle.standardError.write(contentsOf: Data("Streams: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(brokerPort: UInt16) async throws {
        for kind in Line.Kind.allCases {
            try await Conversation(line: Line(kind, brokerPort: brokerPort), brokerPort: brokerPort).hold()
        }
        say("\nAll promises hold.")
    }

    /// Prints a line without the buffer of `print`, so that it is visible at once, even through a pipe.
    static func say(_ line: String) { try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8)) }
}
