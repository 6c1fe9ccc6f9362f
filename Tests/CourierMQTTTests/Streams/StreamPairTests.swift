import CourierTesting
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine
import TestSupport
import Testing

@testable import CourierMQTT

@Suite(.timeLimit(.minutes(10)))
struct StreamPairTests {
    /// A pair over `socket`.
    private func pair(
        _ socket: Int32, bytesPerCall: Int = .max, onRelease: @escaping @Sendable () -> Void = {}
    ) -> StreamPair {
        let streams = DescriptorStreams.pair(socket, bytesPerCall: bytesPerCall, onRelease: onRelease)
        return StreamPair(input: streams.input, output: streams.output, name: "accessory 7", whenClosed: streams.end)
    }

    // MARK: The contract

    @Test(arguments: [1_000, Int.max])
    func `streams over a socket pass the checks of DuplexByteStreamLaws, even with 1,000 bytes per call`(
        bytesPerCall: Int
    )
        async throws
    {
        try await DuplexByteStreamLaws.check(.init(showsReset: false), patience: .seconds(200)) {
            let (left, right) = try DescriptorStreams.socketPair()
            return (pair(left, bytesPerCall: bytesPerCall), pair(right, bytesPerCall: bytesPerCall))
        }
    }

    @Test func `Foundation file streams over two pipes pass the checks of DuplexByteStreamLaws`() async throws {
        try await DuplexByteStreamLaws.check(.init(showsReset: false), patience: .seconds(200)) {
            let (there, back) = (try TestPipe(), try TestPipe())
            defer { for end in [there.reader, there.writer, back.reader, back.writer] { close(end) } }
            func pair(reading: Int32, writing: Int32) throws -> StreamPair {
                let input = try #require(InputStream(fileAtPath: "/dev/fd/\(reading)"))
                let output = try #require(OutputStream(toFileAtPath: "/dev/fd/\(writing)", append: false))
                input.open()
                output.open()
                return StreamPair(input: input, output: output)
            }
            return (
                try pair(reading: back.reader, writing: there.writer),
                try pair(reading: there.reader, writing: back.writer)
            )
        }
    }

    // MARK: MQTT over it

    @Test(arguments: [ProtocolVersion.v311, .v5])
    func `a session over a stream pair sends and receives large messages at the same time`(version: ProtocolVersion)
        async throws
    {
        var configuration = BrokerConfiguration()
        configuration.maximumPacketSize = 2 << 20
        let broker = try LoopbackBroker.start(configuration: configuration)
        let loop = try EventLoop()
        let (ended, hasEnded) = AsyncStream.makeStream(of: Void.self)
        let session = TestSession(version, on: loop)
        try await session.connect(
            to: .stream(pair(try DescriptorStreams.socket(to: broker.port)) { hasEnded.finish() }))
        try await session.subscribe("big/+", qos: .exactlyOnce)
        let payload = LargePayload.bytes
        for number in 0..<6 {
            try await session.publish(
                "big/\(number)", payload, qos: PacketQoS(rawValue: UInt8(number % 3)) ?? .atMostOnce,
                token: Token(rawValue: UInt64(10 + number)))
        }
        try await session.wait("for six payloads") { $0.messages.count == 6 && $0.acknowledged.count == 4 }
        for message in session.record.messages { #expect(message.payload == payload, "\(message.topic)") }
        try await session.disconnect()
        #expect(session.record.ends == [.requested])
        // Both threads have released their streams.
        for await _ in ended {}
        await loop.shutdown()
        await broker.shutdown()
    }

    @Test func `a session resumes over a new stream pair after the peer closed the first pair`() async throws {
        let broker = try LoopbackBroker.start()
        let loop = try EventLoop()
        let session = TestSession(on: loop)
        try await session.connect(to: .stream(pair(try DescriptorStreams.socket(to: broker.port))))
        try await session.subscribe("kept", qos: .atLeastOnce)
        broker.dropConnections()
        try await session.wait("to be dropped") { $0.ends.count == 1 }
        for number in 0..<10 {
            try await session.publish(
                "kept", [UInt8(number)], qos: .atLeastOnce, token: Token(rawValue: UInt64(10 + number)))
        }
        try await session.connect(to: .stream(pair(try DescriptorStreams.socket(to: broker.port))))
        try await session.wait("for what waited") { $0.messages.count == 10 && $0.acknowledged.count == 10 }
        #expect(session.record.messages.flatMap(\.payload) == Array(0..<10))
        try await session.disconnect()
        await loop.shutdown()
        await broker.shutdown()
    }

    // MARK: Ends and errors

    @Test func `abort() releases both streams, even if the peer neither sends nor reads`() async throws {
        let (ours, theirs) = try DescriptorStreams.socketPair()
        let loop = try EventLoop()
        let (ended, hasEnded) = AsyncStream.makeStream(of: Void.self)
        let session = TestSession(on: loop)
        loop.execute { session.driver.open(.stream(pair(ours) { hasEnded.finish() })) }
        loop.execute { session.driver.abort() }
        try await session.wait("to end") { $0.ends.count == 1 }
        for await _ in ended {}
        close(theirs)
        await loop.shutdown()
    }

    @Test func `the end of the peer's output is reported as closedByPeer`() async throws {
        let (ours, theirs) = try DescriptorStreams.socketPair()
        let loop = try EventLoop()
        let session = TestSession(on: loop)
        let stream = pair(ours)
        loop.execute { session.driver.open(.stream(stream)) }
        shutdown(theirs, Int32(SHUT_WR))
        try await session.wait("to end") { $0.causes.count == 1 }
        #expect(session.record.causes == [.closedByPeer])
        close(theirs)
        await loop.shutdown()
    }

    @Test func `a stream that cannot be opened reports its name and the system error`() async throws {
        let loop = try EventLoop()
        let session = TestSession(on: loop)
        let input = try #require(InputStream(fileAtPath: "/nowhere/at/all"))
        let stream = StreamPair(input: input, output: OutputStream(toMemory: ()), name: "serial line A")
        loop.execute { session.driver.open(.stream(stream)) }
        try await session.wait("to fail") { $0.causes.count == 1 }
        guard case .failed(let error)? = session.record.causes.first else {
            Issue.record("\(session.record.causes)")
            return
        }
        #expect(error.message == "reading from serial line A failed: No such file or directory")
        #expect(error.errno == ENOENT)
        await loop.shutdown()
    }

    @Test func `a failed write ends the session with brokenPipe, even if no further write follows`() async throws {
        let (ours, theirs) = try DescriptorStreams.socketPair()
        shutdown(theirs, Int32(SHUT_RD))
        let loop = try EventLoop()
        let session = TestSession(on: loop)
        let stream = pair(ours)
        loop.execute { session.driver.open(.stream(stream)) }
        try await session.wait("to fail") { $0.causes.count == 1 }
        guard case .failed(let error)? = session.record.causes.first else {
            Issue.record("\(session.record.causes)")
            return
        }
        #expect(error.code == .brokenPipe)
        #expect(error.message == "writing to accessory 7 failed: Broken pipe")
        close(theirs)
        await loop.shutdown()
    }
}
