public import CourierTransport
public import MQTTCodec

/// The record of a ``ScriptedBroker`` about one connection.
public struct RecordedConnection: Sendable {
    /// The number of the connection, counted from 1 in the order in which connections were accepted.
    public let number: Int

    /// The time at which the connection was accepted, by the clock of the broker's loop.
    public let openedAt: ContinuousClock.Instant

    /// The received packets, oldest first.
    public internal(set) var packets: [ReceivedPacket] = []

    /// The number of received bytes. If the broker cut the connection at a byte, later bytes do not count.
    public internal(set) var receivedByteCount = 0

    /// The number of bytes that were written to the network.
    public internal(set) var sentByteCount = 0

    /// The time at which the connection ended; `nil` while it is open.
    public internal(set) var closedAt: ContinuousClock.Instant?

    /// The reason why the connection ended, as seen by the broker. In this reason, the peer is the client. `nil` while
    /// the connection is open.
    public internal(set) var closeReason: ChannelCloseReason?

    init(number: Int, openedAt: ContinuousClock.Instant) {
        self.number = number
        self.openedAt = openedAt
    }

    /// The received CONNECT, with client id, credentials and clean start; `nil` if none was received yet.
    public var connect: Connect? {
        for received in packets {
            if case .connect(let connect) = received.packet { return connect }
        }
        return nil
    }

    /// The received messages, oldest first, with their DUP flags.
    public var publishes: [Publish] {
        packets.compactMap { if case .publish(let publish) = $0.packet { publish } else { nil } }
    }
}

/// One packet that a client has sent.
public struct ReceivedPacket: Hashable, Sendable {
    /// The packet.
    public let packet: Packet

    /// The number of the connection that received the packet, counted from 1.
    public let connection: Int

    /// The time at which the packet was received, by the clock of the broker's loop.
    public let receivedAt: ContinuousClock.Instant
}
