import CourierTransport
import MQTTCodec
import MQTTEngine
import Testing

@testable import CourierMQTT

/// Brokers that send packets but do not read the answers.
@Suite struct UnreadAnswersTests {
    /// A broker that reads only after `readOn()`, and sends the given bytes.
    ///
    /// Safe to share: used on the loop only, and after the end of the loop.
    private final class DeafBroker: ChannelHandler, @unchecked Sendable {
        private let greeting: [UInt8]
        private var channel: ByteChannel?
        private(set) var bytes: [UInt8] = []

        init(_ packets: [Packet], _ more: [UInt8] = []) throws {
            greeting = try DeafBroker.encoded(packets) + more
        }

        static func encoded(_ packets: [Packet]) throws -> [UInt8] {
            var buffer = PacketBuffer()
            let encoder = PacketEncoder(version: .v5, sender: .server)
            for packet in packets { try encoder.encode(packet, into: &buffer) }
            return buffer.withBytes { $0.withUnsafeBytes { Array($0) } }
        }

        func opened(_ channel: ByteChannel) {
            self.channel = channel
            channel.pauseReading()
            send(greeting)
        }

        func send(_ bytes: [UInt8]) { channel?.write(bytes.span.bytes) }

        func readOn() { channel?.resumeReading() }

        func received(_ bytes: RawSpan) -> Int {
            bytes.withUnsafeBytes { self.bytes += $0 }
            return bytes.byteCount
        }

        func closed(_ reason: ChannelCloseReason) { channel = nil }

        /// The number of packets of `type` that the broker has read.
        func count(of type: PacketType) throws -> Int {
            let decoder = PacketDecoder(version: .v5, sender: .client)
            let bytes = bytes
            var (count, offset) = (0, 0)
            while case .frame(let frame) = try decoder.nextFrame(in: bytes.span.bytes, at: offset) {
                if frame.type == type { count += 1 }
                offset = frame.end
            }
            return count
        }
    }

    /// The number of bytes that a pipe in memory can hold, which is also the size of a read.
    private static let pipe = 4 << 10

    private static var options: ChannelOptions {
        var options = ChannelOptions()
        options.highWaterMark = 16 << 10
        options.lowWaterMark = 4 << 10
        return options
    }

    private func connect(_ session: TestSession, to broker: DeafBroker) async throws {
        let (near, far) = MemoryStream.pair(capacity: Self.pipe)
        session.loop.execute {
            ByteChannel.accept(far, on: session.loop) { _ in broker }
            session.driver.open(.stream(near), options: Self.options)
        }
        try await session.wait("to connect") { $0.connections == 1 }
    }

    @Test func `the client disconnects from a broker that sends packets but does not read acknowledgements`()
        async throws
    {
        let limit = 64 << 10
        let loop = try EventLoop()
        let session = TestSession(on: loop, answerLimit: limit)
        // PUBREL of an unknown packet id. The client only answers it.
        let release: [UInt8] = [0x62, 0x02, 0x00, 0x01]
        let broker = try DeafBroker([.connAck(ConnAck())], [UInt8](repeatElement(release, count: 100_000).joined()))
        try await connect(session, to: broker)
        try await session.wait("to leave the broker") { $0.ends.count == 1 }
        let end = session.record.ends.first
        let waiting: Int? = if case .protocolError(.answersUnread(let count))? = end { count } else { nil }
        // In addition to the limit, the bytes up to the high-water mark and the bytes of the last read may wait. Each
        // of them is a few pipes large.
        let most = Self.options.highWaterMark + limit + 16 * Self.pipe
        #expect((limit...most).contains(waiting ?? 0), "\(end as Any)")
        #expect(session.record.causes == [.closedByOwner])
        await loop.shutdown()
    }

    /// The most that a broker can have unanswered: one message for each packet id.
    @Test func `a broker may send 65,535 messages before it reads any acknowledgement`() async throws {
        let loop = try EventLoop()
        let session = TestSession(on: loop)
        var packets = [Packet.connAck(ConnAck())]
        for number in 1...UInt16.max {
            let id = try #require(PacketID(rawValue: number))
            packets.append(.publish(Publish(topic: "t", payload: [], delivery: .atLeastOnce(id, isDuplicate: false))))
        }
        let broker = try DeafBroker(packets)
        try await connect(session, to: broker)
        try await session.wait("for all messages") { $0.messages.count == Int(UInt16.max) }
        #expect(session.record.ends.isEmpty)
        loop.execute { broker.readOn() }
        try await session.disconnect()
        #expect(session.record.ends == [.requested])
        await loop.shutdown()
        #expect(try broker.count(of: .pubAck) == Int(UInt16.max))
    }

    @Test func `outgoing messages that the broker has not read do not count as unread acknowledgements`() async throws {
        let loop = try EventLoop()
        let session = TestSession(on: loop, answerLimit: 32 << 10)
        for number in 0..<20 as Range<UInt64> {
            try await session.publish(
                "up", [UInt8](repeating: 0, count: 8 << 10), qos: .atLeastOnce, token: Token(rawValue: number))
        }
        let broker = try DeafBroker([.connAck(ConnAck(properties: [.receiveMaximum(10)]))])
        try await connect(session, to: broker)
        let sign = try DeafBroker.encoded([.publish(Publish(topic: "down", payload: []))])
        let answers = try DeafBroker.encoded(
            (1...10 as ClosedRange<UInt16>).map { number -> Packet in
                let id = try #require(PacketID(rawValue: number))
                return .pubAck(Acknowledgement(packetID: id))
            })
        loop.execute { broker.send(sign) }
        try await session.wait("for the first sign") { $0.messages.count == 1 }
        loop.execute { broker.send(answers) }
        try await session.wait("for acknowledgements") { $0.acknowledged.count == 10 }
        // Two more reads. If the first read caused an end, these reads would fail.
        for count in 2...3 {
            loop.execute { broker.send(sign) }
            try await session.wait("for another sign") { $0.messages.count == count }
        }
        #expect(session.record.ends.isEmpty)
        loop.execute { broker.readOn() }
        try await session.disconnect()
        await loop.shutdown()
        #expect(try broker.count(of: .publish) == 20)
    }
}
