#if canImport(Glibc)
    import CLinux
    import Glibc
    import Synchronization
    import TestSupport
    import Testing

    @testable import CourierTransport

    /// The memory that an idle connection needs.
    @Suite(.serialized) struct IdleMemoryTests {
        /// Counts the bytes that are received on all connections.
        private final class Counter: ChannelHandler {
            let total: Watched<Int>
            init(_ total: Watched<Int>) { self.total = total }
            func received(_ bytes: RawSpan) -> Int {
                let number = bytes.byteCount
                total.update { $0 += number }
                return number
            }
            func closed(_ reason: ChannelCloseReason) {}
        }

        /// Echoes its bytes. It records nothing, so that it needs little memory itself.
        ///
        /// Safe: used on the loop only.
        private final class PlainEcho: ChannelHandler, @unchecked Sendable {
            private var channel: ByteChannel?
            func opened(_ channel: ByteChannel) { self.channel = channel }
            func received(_ bytes: RawSpan) -> Int {
                channel?.write(bytes)
                return bytes.byteCount
            }
            func closed(_ reason: ChannelCloseReason) { channel = nil }
        }

        /// The used bytes of the heap. Each test runs in its own process, so that other tests do not change the number.
        private static var heapBytes: Int { courier_heap_bytes_in_use() }

        /// Returns the growth of the heap for each end of a connection, after `count` connections have carried a message
        /// and become idle.
        private static func cost(of count: Int, tls: (TLSContext, TLSContext)?, on loop: EventLoop) async throws -> Int
        {
            let folder = try TemporaryFolder()
            let listener = try ChannelListener.listen(
                on: .unix(path: folder.file("idle")), tls: tls?.1, loop: loop
            ) { _ in PlainEcho() }
            let total = Watched(0)
            let before = heapBytes
            for _ in 0..<count {
                let channel = ByteChannel.connect(
                    to: listener.endpoint, tls: tls?.0, on: loop, handler: Counter(total))
                channel.send([1, 2, 3, 4])
            }
            try await total.wait("all echoes") { $0 == 4 * count }
            let after = heapBytes
            listener.close()
            return (after - before) / (2 * count)
        }

        @Test func `each of 1000 idle connections on one loop uses less than 8 KiB of memory`() async {
            await #expect(processExitsWith: .success) {
                let costs = try await IdleMemoryTests.costs(of: 1000, tls: nil)
                print("idle memory per connection: \(costs) bytes of heap, its handler included")
                try #require((costs.min() ?? .max) < 8192)
            }
        }

        @Test func `an idle TLS connection uses less than 64 KiB of memory`() async {
            await #expect(processExitsWith: .success) {
                let certificates = try await Certificates.shared
                var configuration = certificates.client
                configuration.serverName = "localhost"
                let client = try TLSContext(client: configuration)
                let server = try TLSContext(server: TLSServerConfiguration(identity: certificates.server))
                let costs = try await IdleMemoryTests.costs(of: 100, tls: (client, server))
                print("idle memory per TLS connection: \(costs) bytes of heap, client and server mixed")
                try #require((costs.min() ?? .max) < 64 << 10)
            }
        }

        /// Returns three measurements. The first one also contains memory that is allocated only once.
        private static func costs(of count: Int, tls: (TLSContext, TLSContext)?) async throws -> [Int] {
            var costs: [Int] = []
            for _ in 0..<3 {
                try await withLoop { loop in costs.append(try await cost(of: count, tls: tls, on: loop)) }
            }
            return costs
        }
    }
#endif
