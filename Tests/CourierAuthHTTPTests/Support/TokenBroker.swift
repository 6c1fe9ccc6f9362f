import Foundation
import TestSupport

/// A mosquitto that accepts only the users in its password file.
final class TokenBroker: Sendable {
    let broker: RealBroker
    private let folder: TemporaryFolder

    /// Starts with the `passwords` of these users.
    init(_ passwords: [String: String]) async throws {
        folder = try TemporaryFolder()
        try Self.write(passwords, folder)
        broker = try await RealBroker(settings: "password_file \(folder.file("passwords"))")
    }

    var port: UInt16 { broker.port }

    /// Replaces the accepted users, and returns when mosquitto uses the new list. Other users are disconnected.
    func change(to passwords: [String: String]) throws {
        try Self.write(passwords, folder)
        if let id = broker.processID { kill(id, SIGHUP) }
        for (user, password) in passwords {
            var isIn = false
            // The exit status of another program shows whether mosquitto accepts the user.
            while !isIn { isIn = (try? Self.publish(port, user, password)) != nil }
        }
    }

    private static func publish(_ port: UInt16, _ user: String, _ password: String) throws {
        try ChildProcess.run([
            "mosquitto_pub", "-h", "127.0.0.1", "-p", "\(port)", "-u", user, "-P", password, "-t", "t", "-n",
        ])
    }

    private static func write(_ passwords: [String: String], _ folder: TemporaryFolder) throws {
        let file = folder.file("new")
        try "".write(toFile: file, atomically: true, encoding: .utf8)
        for (user, password) in passwords { try ChildProcess.run(["mosquitto_passwd", "-b", file, user, password]) }
        guard rename(file, folder.file("passwords")) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }
}
