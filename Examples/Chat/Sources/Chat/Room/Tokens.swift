import CourierAuthHTTP
import Foundation

/// Where tokens come from, and for whom.
struct Tokens: Sendable {
    let name: String
    let secret: String
    let url: URL
    /// The broker's port; the one that the token service names by default.
    var brokerPort: UInt16?

    /// Asks the service when the client needs a token: before the first connection, before a token ends, and when the
    /// broker has refused one.
    func provider() throws -> HTTPConnectionServiceProvider {
        let credentials = Data("\(name):\(secret)".utf8).base64EncodedString()
        return try HTTPConnectionServiceProvider(
            clientID: "chat-\(name)",
            request: TokenRequest(url: url, headers: ["Authorization": "Basic \(credentials)"]),
            // {"host": "127.0.0.1", "port": 1883, "token": "…", "expires_in": 30}
            mapping: ConnectOptionsMapping(
                host: "host", port: brokerPort.map { .fixed($0) } ?? "port", username: .fixed(name),
                password: "token", expiry: .after("expires_in")))
    }
}
