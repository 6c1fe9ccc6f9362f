import CourierMQTTChuck
import Foundation

/// The state of one connection, as JSON for the page.
struct ConnectionJSON: Encodable, Sendable {
    let id: UInt64
    let ordinal: Int
    let client: String
    let host: String
    let port: UInt16
    let scheme: String?
    let protocolName: String
    /// The time at which the connection was opened, in milliseconds since 1970.
    let openedAt: Double
    let lastPacketAt: Double
    let state: String
    let inFlight: Int

    init(_ status: MQTTChuckConnectionStatus) {
        let connection = status.connection
        id = connection.id
        ordinal = connection.ordinal
        client = connection.clientID.cut(RowJSON.textLimit)
        host = connection.host.cut(RowJSON.textLimit)
        port = connection.port
        scheme = connection.scheme
        protocolName = connection.protocolName
        openedAt = connection.openedAt.timeIntervalSince1970 * 1_000
        lastPacketAt = status.lastPacketAt.timeIntervalSince1970 * 1_000
        state = status.state.rawValue
        inFlight = status.inFlight
    }
}
