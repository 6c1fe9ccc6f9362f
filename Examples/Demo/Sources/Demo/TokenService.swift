import CourierCore
import Foundation

/// Stands for a service that hands out tokens over a network: it takes its time, and counts how often it is asked.
actor TokenService: ConnectionServiceProvider {
    /// The round trip to the service that this one stands for. Nothing is waited for here: the time itself is what the
    /// demo shows, as the time that a client takes for its token.
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
