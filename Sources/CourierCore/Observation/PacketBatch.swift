/// The packets of one read or one write, as their bytes.
///
/// One batch and one copy of its bytes stand for all packets that travelled together, so that observing costs little
/// per packet at high rates. Later versions may add fields.
public struct PacketBatch: Sendable {
    /// Which way packets travel.
    public enum Direction: Hashable, Sendable {
        /// From the client to the broker.
        case outgoing

        /// From the broker to the client.
        case incoming
    }

    /// Which way these packets travelled.
    public let direction: Direction

    /// Whole packets back to back in wire order, at least one. Their fixed headers tell where each ends.
    public let bytes: [UInt8]

    /// When they were written, or when the read that completed them returned.
    public let time: ContinuousClock.Instant

    /// The connection they belong to; one object for all batches of the connection.
    public let connection: ObservedConnection

    /// Makes a batch.
    ///
    /// - Parameters:
    ///   - direction: Which way the packets travelled.
    ///   - bytes: Whole packets back to back.
    ///   - time: When.
    ///   - connection: The connection.
    public init(
        direction: Direction, bytes: [UInt8], time: ContinuousClock.Instant, connection: ObservedConnection
    ) {
        self.direction = direction
        self.bytes = bytes
        self.time = time
        self.connection = connection
    }
}
