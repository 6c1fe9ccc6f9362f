import CourierTransport
import MQTTCodec

/// One connection of a ``FaultProxy``: the side of the client and the side of the broker.
///
/// Bytes of the client are read only when the connection to the broker is open. If one side ends its output, the proxy
/// forwards the waiting packets, and then ends the output to the other side.
///
/// Safe to share: mutable state is used only on the loop.
final class ProxyConnection: @unchecked Sendable {
    private enum Phase { case connecting, open, ended }

    let number: Int
    private let host: ProxyHost
    private let client: ProxySide
    private let broker: ProxySide
    private var phase = Phase.connecting
    /// The side that ended its output first.
    private var firstEnded: Endpoint?

    init(_ number: Int, _ host: ProxyHost) {
        self.number = number
        self.host = host
        client = ProxySide(.client, on: host.loop)
        broker = ProxySide(.server, on: host.loop)
        client.join(self)
        broker.join(self)
    }

    /// Stores the channel to the client, and returns the handler of the channel.
    func accept(_ channel: ByteChannel) -> ProxySide {
        client.channel = channel
        return client
    }

    var isConnecting: Bool { phase == .connecting }
    var isOpen: Bool { phase == .open }

    func peer(of side: ProxySide) -> ProxySide { side === client ? broker : client }

    // MARK: Events of the sides

    func opened(_ side: ProxySide) {
        guard isConnecting else { return }
        guard side === broker else {
            host.report(.opened(connection: number))
            client.updateReading()
            broker.channel = ByteChannel.connect(
                to: host.brokerEndpoint(), options: FaultProxy.channelOptions, on: host.loop, handler: broker)
            return
        }
        phase = .open
        client.updateReading()
    }

    /// Reads the MQTT version of the connection from the beginning of CONNECT.
    func receivedConnect(_ bytes: [UInt8]) {
        guard let version = PacketFactsReader.version(ofConnect: bytes) else { return }
        client.version = version
        broker.version = version
    }

    func decide(_ facts: PacketFacts) -> FaultDecision { host.decide(facts) }

    func handled(_ packet: ProxiedPacket) { host.handled(packet) }

    /// Ends the output to the other side. All packets of `side` were forwarded, and `side` sends no more packets.
    func delivered(_ side: ProxySide) {
        guard isOpen else { return }
        let first = firstEnded ?? side.sender
        firstEnded = first
        let peer = peer(of: side)
        if peer.hasDelivered { return end(.closed(by: first), .orderly) }
        peer.channel?.closeOutput()
    }

    func closed(_ side: ProxySide, _ reason: ChannelCloseReason) {
        switch reason {
        case .failed(let error):
            let isUnreachable = isConnecting && side === broker
            end(
                isUnreachable ? .brokerUnreachable(error) : .failed(side.sender, error),
                isUnreachable ? .orderly : .reset)
        case .closedByPeer: end(.closed(by: side.sender), .orderly)
        case .closedByOwner: break
        }
        if client.channel == nil, broker.channel == nil { host.closed(self) }
    }

    /// Ends both sides. Only the first call has an effect.
    func end(_ reason: ProxyCloseReason, _ style: CutStyle) {
        guard phase != .ended else { return }
        phase = .ended
        for side in [client, broker] {
            side.stop()
            switch style {
            case .orderly: side.channel?.close()
            case .reset: side.channel?.abort()
            }
        }
        host.report(.closed(connection: number, reason))
    }
}
