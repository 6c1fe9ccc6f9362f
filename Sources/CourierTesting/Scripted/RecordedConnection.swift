public import CourierTransport
public import MQTTCodec

/// The record of a ``ScriptedBroker`` about one connection.
public struct RecordedConnection: Sendable {
    /// Its number, from 1 on, in the order in which connections were accepted.
    public let number: Int

    /// The time at which it was accepted, by the clock of the broker's loop.
    public let openedAt: ContinuousClock.Instant

    /// The received packets, in order.
    public internal(set) var packets: [ReceivedPacket] = []

    /// The number of received bytes, up to the point where the broker cut the connection.
    public internal(set) var receivedByteCount = 0

    /// The number of bytes that were written to the network.
    public internal(set) var sentByteCount = 0

    /// The time at which it ended; `nil` while it is open.
    public internal(set) var closedAt: ContinuousClock.Instant?

    /// How it ended, from the broker's side: the peer is the client. `nil` while it is open.
    public internal(set) var closeReason: ChannelCloseReason?

    init(number: Int, openedAt: ContinuousClock.Instant) {
        self.number = number
        self.openedAt = openedAt
    }

    /// The received CONNECT, with client id, credentials and clean start; `nil` before it.
    public var connect: Connect? {
        for received in packets {
            if case .connect(let connect) = received.packet { return connect }
        }
        return nil
    }

    /// The received messages, in order, with their DUP flags.
    public var publishes: [Publish] {
        packets.compactMap { if case .publish(let publish) = $0.packet { publish } else { nil } }
    }
}

/// One packet that a client has sent.
public struct ReceivedPacket: Hashable, Sendable {
    /// The packet.
    public let packet: Packet

    /// The number of its connection, counted from 1.
    public let connection: Int

    /// The time at which it was received, by the clock of the broker's loop.
    public let receivedAt: ContinuousClock.Instant
}
