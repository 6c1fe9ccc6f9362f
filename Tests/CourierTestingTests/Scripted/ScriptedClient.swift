import CourierTransport
import MQTTCodec

/// A client that sends the packets of a test and records the packets from the broker.
///
/// Safe to share, because its mutable state is used only on the event loop.
final class ScriptedClient: ChannelHandler, @unchecked Sendable {
    /// The received bytes and packets, and the reason of the close.
    struct Record: Sendable {
        var isOpen = false
        var bytes: [UInt8] = []
        var packets: [Packet] = []
        var hasInputEnded = false
        var reason: ChannelCloseReason?
    }

    private let loop: EventLoop
    private let version: ProtocolVersion
    private var channel: ByteChannel?
    private var record = Record()
    private var waiting: [(condition: (Record) -> Bool, continuation: CheckedContinuation<Record, Never>)] = []

    private init(_ loop: EventLoop, _ version: ProtocolVersion) {
        self.loop = loop
        self.version = version
    }

    /// Connects on `loop`; returns when the connection is open or has failed.
    static func open(
        _ endpoint: TransportEndpoint, _ version: ProtocolVersion = .v5, webSocket: WebSocketConfiguration? = nil,
        on loop: EventLoop
    ) async -> ScriptedClient {
        let client = ScriptedClient(loop, version)
        var options = ChannelOptions()
        options.webSocket = webSocket
        loop.execute { [options] in
            client.channel = ByteChannel.connect(to: endpoint, options: options, on: loop, handler: client)
        }
        await client.wait { $0.isOpen || $0.reason != nil }
        return client
    }

    /// Connects and sends CONNECT.
    static func connect(
        _ endpoint: TransportEndpoint, _ version: ProtocolVersion = .v5, clientID: String = "client",
        properties: PacketProperties = [], webSocket: WebSocketConfiguration? = nil, on loop: EventLoop
    ) async -> ScriptedClient {
        let client = await open(endpoint, version, webSocket: webSocket, on: loop)
        await client.send(.connect(Connect(version: version, clientID: clientID, properties: properties)))
        return client
    }

    func send(_ packets: Packet...) async {
        await run { client in
            var buffer = PacketBuffer()
            let encoder = PacketEncoder(version: client.version, sender: .client)
            for packet in packets { try? encoder.encode(packet, into: &buffer) }
            buffer.withBytes { client.channel?.write($0) }
        }
    }

    func sendBytes(_ bytes: [UInt8]) async { await run { $0.channel?.write(bytes.span.bytes) } }
    func publish(_ ids: UInt16...) async {
        for id in ids {
            guard let id = PacketID(rawValue: id) else { continue }
            await send(.publish(Publish(topic: "t", payload: [1], delivery: .atLeastOnce(id, isDuplicate: false))))
        }
    }
    func close() async { await run { $0.channel?.close() } }
    func pauseReading() async { await run { $0.channel?.pauseReading() } }
    func resumeReading() async { await run { $0.channel?.resumeReading() } }
    func closeOutput() async { await run { $0.channel?.closeOutput() } }
    /// The number of bytes that wait to be written.
    var pendingByteCount: Int { get async { await run { $0.channel?.pendingByteCount ?? 0 } } }

    /// The record so far.
    var now: Record { get async { await run(\.record) } }

    /// The received packets, as soon as the given number was received.
    func packets(_ count: Int) async -> [Packet] {
        await wait { $0.packets.count >= count || $0.reason != nil }.packets
    }

    /// The record, once the connection has ended.
    func end() async -> Record { await wait { $0.reason != nil } }

    @discardableResult
    func wait(until condition: @escaping @Sendable (Record) -> Bool) async -> Record {
        await withCheckedContinuation { continuation in
            loop.execute { [self] in
                waiting.append((condition, continuation))
                check()
            }
        }
    }

    private func run<Result: Sendable>(_ body: @escaping @Sendable (ScriptedClient) -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            loop.execute { continuation.resume(returning: body(self)) }
        }
    }

    private func check() {
        let met = waiting.filter { $0.condition(record) }
        waiting.removeAll { $0.condition(record) }
        for (_, continuation) in met { continuation.resume(returning: record) }
    }

    func opened(_ channel: ByteChannel) {
        record.isOpen = true
        check()
    }

    func received(_ bytes: RawSpan) -> Int {
        let decoder = PacketDecoder(version: version, sender: .server)
        var offset = 0
        while case .frame(let frame)? = try? decoder.nextFrame(in: bytes, at: offset) {
            if let packet = try? decoder.packet(frame, in: bytes) { record.packets.append(packet) }
            offset = frame.end
        }
        bytes.withUnsafeBytes { record.bytes.append(contentsOf: $0[..<offset]) }
        rest = bytes.withUnsafeBytes { Array($0[offset...]) }
        check()
        return offset
    }

    /// The bytes of an incomplete packet.
    private var rest: [UInt8] = []

    func inputClosed() { record.hasInputEnded = true }

    func closed(_ reason: ChannelCloseReason) {
        record.bytes += rest
        record.reason = reason
        channel = nil
        check()
    }
}

extension Packet {
    /// The id of an acknowledgement of a PUBLISH.
    var acknowledgedID: PacketID? {
        switch self {
        case .pubAck(let answer), .pubRec(let answer), .pubRel(let answer), .pubComp(let answer): answer.packetID
        default: nil
        }
    }

    /// The reason code of a CONNACK.
    var connAckCode: PacketReasonCode? { if case .connAck(let answer) = self { answer.reasonCode } else { nil } }

    var publish: Publish? { if case .publish(let publish) = self { publish } else { nil } }
}
