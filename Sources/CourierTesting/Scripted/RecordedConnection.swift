public import CourierTransport
public import MQTTCodec

/// What a ``ScriptedBroker`` saw of one connection.
public struct RecordedConnection: Sendable {
    /// Its number, counted from 1 in the order of accepting.
    public let number: Int

    /// When it was accepted, by the clock of the broker's loop.
    public let openedAt: ContinuousClock.Instant

    /// The packets that came, in order.
    public internal(set) var packets: [ReceivedPacket] = []

    /// How many bytes came, up to where the broker cut.
    public internal(set) var receivedByteCount = 0

    /// How many bytes were given to the network.
    public internal(set) var sentByteCount = 0

    /// When it ended; `nil` while it is open.
    public internal(set) var closedAt: ContinuousClock.Instant?

    /// How it ended, where the broker is the owner and the client the peer; `nil` while it is open.
    public internal(set) var closeReason: ChannelCloseReason?

    init(number: Int, openedAt: ContinuousClock.Instant) {
        self.number = number
        self.openedAt = openedAt
    }

    /// The CONNECT that came, with client id, credentials and clean start; `nil` while none has.
    public var connect: Connect? {
        for received in packets {
            if case .connect(let connect) = received.packet { return connect }
        }
        return nil
    }

    /// The messages that came, in order, with their DUP flags.
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

    /// When it came, by the clock of the broker's loop.
    public let receivedAt: ContinuousClock.Instant
}
