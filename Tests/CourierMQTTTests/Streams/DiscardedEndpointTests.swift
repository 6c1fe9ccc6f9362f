import CourierCore
import CourierTransport
import TestSupport
import Testing

@testable import CourierMQTT

/// The app's stream is closed if an attempt ends before its connection is opened.
@Suite(.timeLimit(.minutes(5))) struct DiscardedEndpointTests {
    /// A stream that records how it was closed.
    private final class ClosedStream: DuplexByteStream {
        let name = "closed stream"
        /// For each close, true if it was abrupt.
        let closings = Series<Bool>()

        func open(_ readiness: StreamReadiness) {}
        func read(into buffer: inout MutableRawSpan) -> StreamRead { .bytesThenWait(0) }
        func write(_ bytes: RawSpan) -> StreamWrite { .bytesThenWait(0) }
        func closeOutput() {}
        func close(abruptly: Bool) { closings.append(abruptly) }
    }

    @Test func `a connection attempt that cannot read the message store closes its stream exactly once`() async throws {
        let streams = Series<ClosedStream>()
        try await ScriptedWorld.run { config in
            config.messageStore = UnreadableStore(failures: 100)
            config.endpoint = { _ in
                let stream = ClosedStream()
                streams.append(stream)
                return .stream(stream)
            }
        } _: { world in
            await world.connect()
            await world.until { world.events.contains("connectionFailure") }
            #expect(streams.values.map(\.closings.values) == [[true]])
            await world.run(for: .seconds(1))
            await world.until { world.events.count { $0 == "connectionFailure" } == 2 }
            #expect(streams.values.map(\.closings.values) == [[true], [true]])
        }
    }

    @Test func `disconnect() during a read of the message store closes the stream exactly once`() async throws {
        let store = ControlledStore()
        store.holdReads()
        let stream = ClosedStream()
        try await ScriptedWorld.run { config in
            config.messageStore = store
            config.endpoint = { _ in .stream(stream) }
        } _: { world in
            await world.connect()
            await world.until { store.heldReadCount == 1 }
            world.client.disconnect()
            await world.until { world.events.contains("connectionFailure") }
            #expect(stream.closings.values == [true])
            store.letReadsPass()
            store.releaseRead()
            await world.until { store.outgoingReadCount > 0 }
            #expect(stream.closings.values == [true])
        }
    }

    @Test func `a connection attempt with an invalid TLS configuration closes its stream`() async throws {
        let stream = ClosedStream()
        try await ScriptedWorld.run { config in
            // The TLS settings lack a server name, so they are invalid for the app's own stream.
            config.tls = TLSClientConfiguration()
            config.endpoint = { _ in .stream(stream) }
        } _: { world in
            await world.connect()
            await world.until { world.events.contains("connectionFailure") }
            #expect(world.errors(of: "connectionFailure").map(\.code) == [.invalidConfiguration])
            #expect(stream.closings.values == [true])
        }
    }
}
