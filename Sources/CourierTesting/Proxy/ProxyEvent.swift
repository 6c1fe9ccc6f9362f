public import CourierTransport
public import MQTTCodec

/// An event of a ``FaultProxy``, which its observer receives.
public enum ProxyEvent: Sendable {
    /// A client has connected. Connections are counted from 1.
    case opened(connection: Int)
    /// A packet was forwarded, or a rule prevented the forwarding.
    case packet(ProxiedPacket)
    /// A connection ends. No more packets of it are forwarded.
    case closed(connection: Int, ProxyCloseReason)
}

/// A packet that a ``FaultProxy`` has handled.
public struct ProxiedPacket: Sendable {
    /// The number of the connection, counted from 1.
    public let connection: Int

    /// The side that sent the packet.
    public let sender: Endpoint

    /// The type of the packet; `nil` for the reserved type 0.
    public let type: PacketType?

    /// The topic of PUBLISH, also if the packet has only a topic alias; otherwise `nil`.
    public let topic: String?

    /// The bytes of the packet, as they were forwarded. If the packet has more than ``FaultProxy/heldPacketSize``
    /// bytes, this array contains only the beginning. The bytes of CONNECT contain the password.
    public let bytes: [UInt8]

    /// The number of bytes of the whole packet.
    public let byteCount: Int

    /// The number of times that the packet was forwarded: 0, 1 or 2.
    public let copyCount: Int

    /// The rules that were applied to the packet.
    public let faults: [FaultRule]

    /// The time at which the packet was forwarded or dropped, by the clock of the proxy's loop.
    public let time: ContinuousClock.Instant

    /// The MQTT version of the connection. Until the proxy has read CONNECT, it is 3.1.1.
    public let version: ProtocolVersion

    /// The decoded packet; `nil` if it breaks the specification or if ``bytes`` is only its beginning.
    public var packet: Packet? { PacketDecoder(version: version, sender: sender).packet(bytes) }
}

/// The reason why a ``FaultProxy`` ended a connection.
public enum ProxyCloseReason: Hashable, Sendable {
    /// One side has closed the connection.
    case closed(by: Endpoint)
    /// The connection to one side failed, such as by a reset.
    case failed(Endpoint, TransportError)
    /// The broker could not be reached.
    case brokerUnreachable(TransportError)
    /// A rule cut the connection.
    case cut(by: FaultRule)
    /// A packet of this side has a remaining length of more than four bytes, so its end is unknown.
    case malformedLength(from: Endpoint)
    /// The proxy was shut down.
    case shutDown
}

extension ProxyCloseReason: CustomStringConvertible {
    /// The reason in words, such as `the client closed the connection`.
    public var description: String {
        switch self {
        case .closed(let side): "the \(Self.name(side)) closed the connection"
        case .failed(let side, let error): "the connection to the \(Self.name(side)) failed: \(error.message)"
        case .brokerUnreachable(let error): "the broker cannot be reached: \(error.message)"
        case .cut(let rule): "cut by the rule “\(rule)”"
        case .malformedLength(let side):
            "a packet of the \(Self.name(side)) has a malformed length, so the end of the packet is unknown"
        case .shutDown: "the proxy was shut down"
        }
    }

    private static func name(_ side: Endpoint) -> String {
        switch side {
        case .client: "client"
        case .server: "broker"
        }
    }
}

/// The counts of a ``FaultProxy`` since its start.
public struct ProxyCounts: Hashable, Sendable {
    /// The number of connections that clients have opened.
    public internal(set) var connections = 0
    /// The number of packets that were forwarded from clients to the broker. Duplicates count twice.
    public internal(set) var packetsFromClients = 0
    /// The number of packets that were forwarded from the broker to clients. Duplicates count twice.
    public internal(set) var packetsFromBroker = 0
    /// The number of packets to which a rule applied a fault.
    public internal(set) var faults = 0

    package init() {}
}
