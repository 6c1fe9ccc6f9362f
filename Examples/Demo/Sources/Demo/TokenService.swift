import CourierCore
import Foundation

/// Simulates a token service on the network: it answers after a delay, and counts the requests.
actor TokenService: ConnectionServiceProvider {
    /// The simulated round trip to the service. The demo shows it as the time that a client needs to get its token.
    static let roundTrip = Duration.milliseconds(300)

    let clientID: String
    private let port: UInt16
    private let token: String
    private(set) var callCount = 0

    init(clientID: String, port: UInt16, token: String) {
        self.clientID = clientID
        self.port = port
        self.token = token
    }

    func connectOptions() async throws -> ConnectGrant {
        callCount += 1
        try await Task.sleep(for: Self.roundTrip)
        let options = ConnectOptions(
            host: "127.0.0.1", port: port, clientId: clientID, username: clientID, password: token)
        return ConnectGrant(options, expiresAt: Date(timeIntervalSinceNow: 3600))
    }
}
