import CourierCore
import Foundation

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

/// Implements only the members that the published article requires of a provider.
class MinimalAuthService: IConnectionServiceProvider {
    var clientId: String { UUID().uuidString }

    func getConnectOptions(completion: @escaping (Result<ConnectOptions, AuthError>) -> Void) {
        completion(.failure(.otherError(NSError(domain: "example", code: 1))))
    }
}
