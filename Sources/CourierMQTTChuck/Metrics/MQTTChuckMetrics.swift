public import CourierCore
public import MQTTCodec
import Synchronization

/// The counts of a logger since it was created. Dropping or clearing rows does not reduce the counts.
public struct MQTTChuckMetrics: Hashable, Sendable {
    /// The packets of one type in one direction.
    public struct Traffic: Hashable, Sendable {
        /// The packet type, or `nil` for bytes that are not a packet.
        public let type: PacketType?
        /// The direction: outgoing from the client, or incoming from the broker.
        public let direction: PacketBatch.Direction
        /// The number of packets.
        public let packets: UInt64
        /// The total size of the packets in bytes.
        public let bytes: UInt64
    }

    /// The durations of the exchanges of one kind, such as from PUBLISH to PUBACK.
    public struct Latency: Hashable, Sendable {
        /// The kind of exchange.
        public let kind: MQTTChuckExchangeKind
        /// The number of exchanges in each bucket. The last bucket counts durations above the last of
        /// ``MQTTChuckMetrics/latencyBounds``.
        public let counts: [UInt64]
        /// The sum of all durations.
        public let sum: Duration

        /// The number of exchanges.
        public var count: UInt64 { counts.reduce(0, +) }
    }

    /// The upper bounds of the latency buckets, from 0.1 ms to 10 s.
    public static let latencyBounds: [Duration] = Latencies.bounds.map { .nanoseconds($0) }

    /// The traffic by packet type and direction. Types without packets are left out.
    public let traffic: [Traffic]
    /// The number of packets whose reason code or return code reports a failure. A SUBACK or UNSUBACK counts once.
    public let refusals: UInt64
    /// The number of times that received or sent bytes were not a valid packet.
    public let malformed: UInt64
    /// The number of CONNECT packets that clients sent.
    public let connects: UInt64
    /// The number of CONNECT packets of clients that had already sent a CONNECT before.
    public let reconnects: UInt64
    /// The number of CONNACK packets that accepted a connection.
    public let accepted: UInt64
    /// The number of CONNACK packets that refused a connection.
    public let refused: UInt64
    /// The number of exchanges that clients began and that still wait for a response.
    public let inFlightOutgoing: Int
    /// The number of exchanges that brokers began and that still wait for a response.
    public let inFlightIncoming: Int
    /// The durations of exchanges by kind. Kinds without exchanges are left out.
    public let latencies: [Latency]
    /// The summary of the rows that the logger holds.
    public let summary: MQTTChuckSummary
    /// The number of open connections, derived from their packets.
    public let openConnections: Int

    /// Returns the traffic of all packet types in one direction.
    ///
    /// - Parameter direction: The direction.
    /// - Returns: The number of packets and their total size in bytes.
    public func total(_ direction: PacketBatch.Direction) -> (packets: UInt64, bytes: UInt64) {
        traffic.filter { $0.direction == direction }.reduce((0, 0)) { ($0.0 + $1.packets, $0.1 + $1.bytes) }
    }
}

extension MQTTChuckLogger {
    /// The counts since the logger was created.
    public var metrics: MQTTChuckMetrics {
        let (tally, load, summary) = withHeldRows { state in
            (state.recorder.tally, state.recorder.connectionLoad, state.summary)
        }
        var traffic: [MQTTChuckMetrics.Traffic] = []
        for direction in [PacketBatch.Direction.outgoing, .incoming] {
            for bits in UInt8(0)..<16 where tally.packets(bits, direction) > 0 {
                traffic.append(
                    MQTTChuckMetrics.Traffic(
                        type: PacketType(rawValue: bits), direction: direction, packets: tally.packets(bits, direction),
                        bytes: tally.bytes(bits, direction)))
            }
        }
        let latencies = MQTTChuckExchangeKind.allCases.map { kind in
            MQTTChuckMetrics.Latency(
                kind: kind, counts: tally.latencies.counts(kind), sum: .nanoseconds(tally.latencies.sum(kind)))
        }
        return MQTTChuckMetrics(
            traffic: traffic, refusals: tally.refusals, malformed: tally.malformed, connects: tally.connections,
            reconnects: tally.reconnects, accepted: tally.accepted, refused: tally.refused,
            inFlightOutgoing: load.own, inFlightIncoming: load.peers,
            latencies: latencies.filter { $0.count > 0 }, summary: summary,
            openConnections: load.open)
    }
}
