public import Foundation

/// How one connection stands.
public struct MQTTChuckConnectionStatus: Identifiable, Hashable, Sendable {
    /// The connection.
    public let connection: MQTTChuckConnection

    /// How it stands.
    public let state: MQTTChuckConnectionState

    let lastPacketNanoseconds: Int64

    /// How many exchanges are open, begun by either end.
    public let inFlight: Int

    /// The id of the connection.
    public var id: UInt64 { connection.id }

    /// When its last packet was written or read.
    public var lastPacketAt: Date { Nanoseconds.date(lastPacketNanoseconds) }
}
