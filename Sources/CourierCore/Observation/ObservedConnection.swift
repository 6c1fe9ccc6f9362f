public import Foundation

/// Describes one connection to a packet observer. The type is a class, so that each `PacketBatch` contains only a
/// reference to the description.
public final class ObservedConnection: Sendable {
    /// The MQTT version of the connection.
    public enum ProtocolVersion: Hashable, Sendable {
        /// MQTT 3.1, with protocol name `MQIsdp`.
        case v31

        /// MQTT 3.1.1.
        case v311

        /// MQTT 5.0.
        case v5
    }

    /// A number that is different for each connection of this process. A later connection has a higher number.
    public let id: UInt64

    /// The options of the connection. Their descriptions contain no secret.
    public let options: ConnectOptions

    /// The MQTT version of the connection.
    public let protocolVersion: ProtocolVersion

    /// The date when the connection was opened, by the wall clock.
    public let openedAt: Date

    /// The instant at which the connection was opened, on the clock of ``PacketBatch/time``. To get the time of day of
    /// a packet, add the time since this instant to `openedAt`.
    public let openedInstant: ContinuousClock.Instant

    /// The number of the client that made the connection; `nil` if it is not known. All connections of a client have
    /// the same number, even with different brokers or client ids. Different clients of this process have different
    /// numbers.
    public let clientNumber: UInt64?

    /// Makes a description of a connection.
    ///
    /// - Parameters:
    ///   - id: A number that differs for every connection of this process.
    ///   - options: The options of the connection.
    ///   - protocolVersion: The protocol version of the connection.
    ///   - openedAt: The date when the connection was opened, by the wall clock.
    ///   - openedInstant: The same moment by the continuous clock.
    ///   - clientNumber: The number of the client that made the connection; `nil` by default.
    public init(
        id: UInt64,
        options: ConnectOptions,
        protocolVersion: ProtocolVersion,
        openedAt: Date,
        openedInstant: ContinuousClock.Instant,
        clientNumber: UInt64? = nil
    ) {
        self.id = id
        self.options = options
        self.protocolVersion = protocolVersion
        self.openedAt = openedAt
        self.openedInstant = openedInstant
        self.clientNumber = clientNumber
    }
}
