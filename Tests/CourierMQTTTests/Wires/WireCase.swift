import MQTTCodec
import Testing

/// The transport between a client and its broker.
enum Wire: String, CaseIterable, Sendable {
    case tcp, tls, mutualTLS, unix, memory

    var isSecure: Bool { self == .tls || self == .mutualTLS }
}

/// A transport, a broker and an MQTT version.
struct WireCase: Hashable, Sendable, CustomTestStringConvertible {
    enum Peer: String, CaseIterable, Sendable { case mosquitto, loopback }

    let peer: Peer
    let wire: Wire
    var version = ProtocolVersion.v5

    /// Every transport of both brokers. A connection in memory to mosquitto is impossible, because mosquitto is
    /// another process.
    static let wires: [WireCase] = Peer.allCases.flatMap { peer in
        Wire.allCases.filter { peer == .loopback || $0 != .memory }.map { WireCase(peer: peer, wire: $0) }
    }

    /// Every transport with both MQTT versions.
    static let all: [WireCase] = wires.flatMap { wire in
        [ProtocolVersion.v311, .v5].map { WireCase(peer: wire.peer, wire: wire.wire, version: $0) }
    }

    var testDescription: String { "\(peer) by \(wire), \(version)" }
}
