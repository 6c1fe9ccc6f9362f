import CourierCore
import Foundation

/// A provider with a mutable cache and no lock. It need not be `Sendable`, because the client makes only one call at a
/// time.
final class HiveMQAuthService: IConnectionServiceProvider {
    private var cachedOptions: ConnectOptions?
    var extraIdProvider: (() -> String?)?

    var clientId: String {
        deviceIdentifier ?? UUID().uuidString
    }

    var existingConnectOptions: ConnectOptions? { cachedOptions }

    func getConnectOptions(completion: @escaping (Result<ConnectOptions, AuthError>) -> Void) {
        executeNetworkRequest { (response: ConnectOptions) in
            self.cachedOptions = response
            completion(.success(response))
        } failure: { _, _, error in
            completion(.failure(error))
        }
    }

    func clearCachedAuthResponse() {
        cachedOptions = nil
    }

    private var deviceIdentifier: String? { extraIdProvider?() }

    private func executeNetworkRequest(
        success: @escaping (ConnectOptions) -> Void, failure: @escaping (Int, Data?, AuthError) -> Void
    ) {
        let options = ConnectOptions(
            host: "broker.example.com",
            port: 1883,
            keepAlive: 60,
            clientId: clientId,
            username: "ada",
            password: "secret",
            isCleanSession: false
        )
        options.host.isEmpty ? failure(404, nil, .httpError(statusCode: 404)) : success(options)
    }
}

/// A provider that calls its completion on another thread. The completion must therefore be `@Sendable`.
class MinimalAuthService: IConnectionServiceProvider {
    var clientId: String { UUID().uuidString }

    func getConnectOptions(completion: @escaping @Sendable (Result<ConnectOptions, AuthError>) -> Void) {
        DispatchQueue.global().async {
            completion(.failure(.otherError(NSError(domain: "example", code: 1))))
        }
    }
}

/// A provider with an `async` method. An actor needs no further annotations.
actor TokenService: ConnectionServiceProvider {
    let clientID = "phone-7"
    private var token: String?

    func connectOptions() async throws -> ConnectGrant {
        let token = token ?? UUID().uuidString
        self.token = token
        return ConnectGrant(
            ConnectOptions(
                host: "broker.example.com", port: 8883, clientId: clientID, username: "ada", password: token,
                scheme: "tls"),
            expiresAt: Date(timeIntervalSinceNow: 3600))
    }

    func clearCachedOptions() { token = nil }
}
