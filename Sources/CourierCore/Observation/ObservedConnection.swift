public import Foundation

/// One connection, as an observer needs to know it. A class, so that a batch carries a reference and not six strings.
public final class ObservedConnection: Sendable {
    /// The protocol that is spoken.
    public enum ProtocolVersion: Hashable, Sendable {
        /// MQTT 3.1, with protocol name `MQIsdp`.
        case v31

        /// MQTT 3.1.1.
        case v311

        /// MQTT 5.0.
        case v5
    }

    /// Different for every connection of this process, growing.
    public let id: UInt64

    /// Whose connection it is; its descriptions show no secret.
    public let options: ConnectOptions

    /// The protocol that is spoken.
    public let protocolVersion: ProtocolVersion

    /// When the connection was opened, by the wall clock.
    public let openedAt: Date

    /// The same moment by the clock that ``PacketBatch/time`` uses, so that packets get a time of day.
    public let openedInstant: ContinuousClock.Instant

    /// Which client of this process made it, to whatever broker and with whatever client id: a number that all of its
    /// connections have and those of no other client. `nil` where whoever describes the connection does not say.
    public let clientNumber: UInt64?

    /// Describes a connection.
    ///
    /// - Parameters:
    ///   - id: Different for every connection of this process.
    ///   - options: Whose connection it is.
    ///   - protocolVersion: The protocol that is spoken.
    ///   - openedAt: When it was opened, by the wall clock.
    ///   - openedInstant: The same moment by the continuous clock.
    ///   - clientNumber: Which client made it; `nil` by default.
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
