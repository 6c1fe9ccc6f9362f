import MQTTCodec
import Testing

/// What the bytes between a client and its broker travel over.
enum Wire: String, CaseIterable, Sendable {
    case tcp, tls, mutualTLS, unix, memory

    var isSecure: Bool { self == .tls || self == .mutualTLS }
}

/// Whom a wire leads to, and what is spoken over it.
struct WireCase: Hashable, Sendable, CustomTestStringConvertible {
    enum Peer: String, CaseIterable, Sendable { case mosquitto, loopback }

    let peer: Peer
    let wire: Wire
    var version = ProtocolVersion.v5

    /// Every wire of both brokers; mosquitto is no part of this process, so memory does not lead to it.
    static let wires: [WireCase] = Peer.allCases.flatMap { peer in
        Wire.allCases.filter { peer == .loopback || $0 != .memory }.map { WireCase(peer: peer, wire: $0) }
    }

    /// Every wire in both versions.
    static let all: [WireCase] = wires.flatMap { wire in
        [ProtocolVersion.v311, .v5].map { WireCase(peer: wire.peer, wire: wire.wire, version: $0) }
    }

    var testDescription: String { "\(peer) by \(wire), \(version)" }
}
