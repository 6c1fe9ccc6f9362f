import CourierAuthHTTP
import Foundation

/// The member's name and secret, and the address of the token service.
struct Tokens: Sendable {
    let name: String
    let secret: String
    let url: URL
    /// The broker's port. If it is `nil`, the port from the token service is used.
    var brokerPort: UInt16?

    /// Returns a provider that requests a token when the client needs one: before the first connection, before a token
    /// expires, and after the broker refused a token.
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
