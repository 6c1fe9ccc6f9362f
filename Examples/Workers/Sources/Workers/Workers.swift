import CourierMQTT
import Foundation

@main struct Workers {
    static let usage = """
        usage: Workers work NAME [PORT]     takes jobs until it is ended
               Workers give COUNT [PORT]    gives jobs, and ends when all are done
        """

    static func main() async throws {
        let words = CommandLine.arguments.dropFirst().map(\.self)
        guard (2...3).contains(words.count), let port = words.count == 3 ? UInt16(words[2]) : 1_883 else {
            say(usage)
            exit(2)
        }
        switch words[0] {
        case "work":
            try await Worker(name: words[1], port: port).run()
        case "give":
            guard let count = Int(words[1]), (1...1_000_000).contains(count) else { fallthrough }
            try await Employer(jobCount: count, port: port).run()
        default:
            say(usage)
            exit(2)
        }
    }
}

extension MQTTClientConfig {
    /// Creates the configuration of a client with this name, for the broker on a port of this machine.
    init(named name: String, port: UInt16) {
        self.init(
            options: ConnectOptions(
                host: "127.0.0.1", port: port, clientId: name, username: "", password: "", isCleanSession: true))
    }
}

/// Prints a line, and flushes it so that it is visible at once, even through a pipe.
func say(_ line: String) {
    print(line)
    fflush(nil)
}
