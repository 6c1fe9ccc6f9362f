/// The bytes of all packets of one read or one write.
///
/// Packets that were read or written together share one batch and one copy of their bytes, so that the cost per packet
/// is low. Later versions may add fields.
public struct PacketBatch: Sendable {
    /// The direction of packets.
    public enum Direction: Hashable, Sendable {
        /// From the client to the broker.
        case outgoing

        /// From the broker to the client.
        case incoming
    }

    /// The direction of the packets in this batch.
    public let direction: Direction

    /// One or more complete packets in wire order, without gaps. The fixed header of each packet contains its length.
    ///
    /// Received messages that the client skips, because they are too large, are left out.
    public let bytes: [UInt8]

    /// For outgoing packets, the time when they were written. For incoming packets, the time when the last read
    /// returned.
    public let time: ContinuousClock.Instant

    /// The connection that the packets belong to. All batches of a connection share one object.
    public let connection: ObservedConnection

    /// Makes a batch.
    ///
    /// - Parameters:
    ///   - direction: The direction of the packets.
    ///   - bytes: One or more complete packets, without gaps.
    ///   - time: The time when the packets were written, or when the last read returned.
    ///   - connection: The connection that the packets belong to.
    public init(
        direction: Direction, bytes: [UInt8], time: ContinuousClock.Instant, connection: ObservedConnection
    ) {
        self.direction = direction
        self.bytes = bytes
        self.time = time
        self.connection = connection
    }
}
