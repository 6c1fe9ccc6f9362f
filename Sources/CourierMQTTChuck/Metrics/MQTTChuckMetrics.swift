public import CourierCore
public import MQTTCodec
import Synchronization

/// What a logger has counted since it was made. Dropping and clearing rows takes nothing back.
public struct MQTTChuckMetrics: Hashable, Sendable {
    /// The packets of one type that went one way.
    public struct Traffic: Hashable, Sendable {
        /// Which type; `nil` for what is no packet.
        public let type: PacketType?
        /// Which way.
        public let direction: PacketBatch.Direction
        /// How many packets.
        public let packets: UInt64
        /// How many bytes they had.
        public let bytes: UInt64
    }

    /// How long the exchanges of one kind took.
    public struct Latency: Hashable, Sendable {
        /// Which exchanges.
        public let kind: MQTTChuckExchangeKind
        /// How many fell into each bucket; the last takes all above the last of ``MQTTChuckMetrics/latencyBounds``.
        public let counts: [UInt64]
        /// The sum of all.
        public let sum: Duration

        /// How many there were.
        public var count: UInt64 { counts.reduce(0, +) }
    }

    /// The upper bounds of the latency buckets: 0.1 ms to 10 s.
    public static let latencyBounds: [Duration] = Latencies.bounds.map { .nanoseconds($0) }

    /// The traffic, types that did not occur left out.
    public let traffic: [Traffic]
    /// How many packets said that something failed.
    public let refusals: UInt64
    /// How often bytes were seen that are no packet.
    public let malformed: UInt64
    /// How many CONNECT packets were sent.
    public let connects: UInt64
    /// How many of them were not the first of their client.
    public let reconnects: UInt64
    /// How many CONNACK packets accepted.
    public let accepted: UInt64
    /// How many CONNACK packets refused.
    public let refused: UInt64
    /// Exchanges that clients began and that are open.
    public let inFlightOutgoing: Int
    /// Exchanges that brokers began and that are open.
    public let inFlightIncoming: Int
    /// How long exchanges took, kinds that did not occur left out.
    public let latencies: [Latency]
    /// What the logger keeps.
    public let summary: MQTTChuckSummary
    /// How many connections are up, by what their packets say.
    public let openConnections: Int

    /// Packets of all types that went one way.
    ///
    /// - Parameter direction: Which way.
    /// - Returns: Their number and bytes.
    public func total(_ direction: PacketBatch.Direction) -> (packets: UInt64, bytes: UInt64) {
        traffic.filter { $0.direction == direction }.reduce((0, 0)) { ($0.0 + $1.packets, $0.1 + $1.bytes) }
    }
}

extension MQTTChuckLogger {
    /// What has been counted so far.
    public var metrics: MQTTChuckMetrics {
        let (tally, load, summary) = state.withLock { state in
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
