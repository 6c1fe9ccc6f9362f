import CourierTesting
import CourierTransport
import MQTTCodec
import TestSupport

/// A LoopbackBroker behind a server that changes, drops or adds packets, to plant violations of the specification.
///
/// Safe to share: connections use mutable state only on the event loop.
final class AlteringBroker: Sendable {
    /// Returns the packets to forward instead of a packet, or `nil` to close the connection.
    typealias Alteration = @Sendable (_ packet: Packet, _ sender: Endpoint) -> [Packet]?

    /// The packets that clients sent, before the alteration.
    let sent = Series<Packet>()
    let broker: LoopbackBroker
    private let listener: ChannelListener
    private let loop: EventLoop

    init(_ alteration: @escaping Alteration) throws {
        let loop = try EventLoop(name: "altering-broker")
        let broker = try LoopbackBroker.start()
        let sent = sent
        listener = try ChannelListener.listen(loop: loop) { channel in
            let downstream = Side(channel, .client) { packet, sender in
                if sender == .client { sent.append(packet) }
                return alteration(packet, sender)
            }
            let upstream = Side(nil, .server) { packet, sender in alteration(packet, sender) }
            downstream.other = upstream
            upstream.other = downstream
            ByteChannel.connect(to: broker.connectInMemory(), on: loop, handler: upstream)
            return downstream
        }
        self.loop = loop
        self.broker = broker
    }

    var place: [String] { ["-h", "127.0.0.1", "-p", "\(listener.port)"] }

    func shutdown() async {
        listener.close()
        await loop.shutdown()
        await broker.shutdown()
    }

    /// One of the two channels of a connection: to the client or to the LoopbackBroker.
    ///
    /// Safe to share: all state is used only on the event loop.
    private final class Side: ChannelHandler, @unchecked Sendable {
        /// The other channel. The reference is strong until one of the channels closes.
        var other: Side?
        private let sender: Endpoint
        private let alteration: Alteration
        private var channel: ByteChannel?
        private var version = ProtocolVersion.v5
        private var waiting: [Packet] = []

        init(_ channel: ByteChannel?, _ sender: Endpoint, _ alteration: @escaping Alteration) {
            self.channel = channel
            self.sender = sender
            self.alteration = alteration
        }

        func opened(_ channel: ByteChannel) {
            self.channel = channel
            let packets = waiting
            waiting = []
            for packet in packets { write(packet) }
        }

        func closed(_ reason: ChannelCloseReason) {
            channel = nil
            let other = other
            self.other = nil
            other?.end(isAbrupt: reason != .closedByPeer && reason != .closedByOwner)
        }

        func received(_ bytes: RawSpan) -> Int {
            var offset = 0
            let limits = PacketDecoder.Limits(maximumPacketSize: 64 << 20)
            while let other, let next = try? decoder(limits).nextFrame(in: bytes, at: offset),
                case .frame(let frame) = next, let packet = try? decoder(limits).packet(frame, in: bytes)
            {
                offset = frame.end
                if case .connect(let connect) = packet {
                    version = connect.version
                    other.version = connect.version
                }
                guard let packets = alteration(packet, sender) else {
                    other.end(isAbrupt: true)
                    end(isAbrupt: true)
                    return bytes.byteCount
                }
                for packet in packets { other.write(packet) }
            }
            return offset
        }

        private func decoder(_ limits: PacketDecoder.Limits) -> PacketDecoder {
            PacketDecoder(version: version, sender: sender, limits: limits)
        }

        private func write(_ packet: Packet) {
            guard let channel, channel.isOpen else { return waiting.append(packet) }
            // This side receives from `sender`, so it sends as the other end.
            let encoder = PacketEncoder(version: version, sender: sender == .client ? .server : .client)
            var buffer = PacketBuffer()
            guard (try? encoder.encode(packet, into: &buffer)) != nil else { return }
            buffer.withBytes { channel.write($0) }
        }

        private func end(isAbrupt: Bool) { if isAbrupt { channel?.abort() } else { channel?.close() } }
    }
}
