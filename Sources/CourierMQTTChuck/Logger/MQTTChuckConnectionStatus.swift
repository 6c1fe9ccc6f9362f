public import Foundation

/// The state of one connection, the time of its last packet and the number of its open exchanges.
public struct MQTTChuckConnectionStatus: Identifiable, Hashable, Sendable {
    /// The connection.
    public let connection: MQTTChuckConnection

    /// The state of the connection, derived from its packets.
    public let state: MQTTChuckConnectionState

    let lastPacketNanoseconds: Int64

    /// The number of open exchanges, which still wait for a response. The client or the broker began them.
    public let inFlight: Int

    /// The id of the connection.
    public var id: UInt64 { connection.id }

    /// The time at which the last packet of the connection was written or read.
    public var lastPacketAt: Date { Nanoseconds.date(lastPacketNanoseconds) }
}
