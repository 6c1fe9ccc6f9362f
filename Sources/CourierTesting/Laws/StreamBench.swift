import CourierTransport

/// Two connected streams under test, each with its own channel.
struct StreamBench: Sendable {
    let left: StreamEnd
    let right: StreamEnd
    private let streams: [MeasuredStream]
    private let loop: EventLoop

    static func open(
        _ left: any DuplexByteStream, _ right: any DuplexByteStream, on loop: EventLoop, bytesPerRead: Int
    ) async -> StreamBench {
        let streams = [left, right].map { MeasuredStream($0, bytesPerRead: bytesPerRead) }
        let bench = StreamBench(left: StreamEnd(on: loop), right: StreamEnd(on: loop), streams: streams, loop: loop)
        await bench.left.open(streams[0])
        await bench.right.open(streams[1])
        return bench
    }

    /// Throws an error if a stream has returned an impossible number of bytes, such as more bytes than the buffer
    /// holds.
    func checkCounts() throws(Finding) {
        for stream in streams {
            if let falseCount = stream.falseCount { throw Finding(falseCount) }
        }
    }

    func close() async {
        await left.perform { $0.abort() }
        await right.perform { $0.abort() }
    }

    // MARK: Laws

    func countsTruly() async throws {
        for size in [1, 2, 1_000, 100_000] {
            let bytes = Self.bytes(size, seed: size)
            await left.write(bytes)
            try await right.expect(bytes)
            try checkCounts()
        }
    }

    func keepsBytes() async throws {
        let there = Self.bytes(1 << 20, seed: 1)
        let back = Self.bytes(700_001, seed: 2)
        let pieces = Self.pieces(of: there)
        async let rightSaw: Void = right.expect(there)
        async let leftSaw: Void = left.expect(back)
        await right.write(back)
        for piece in pieces { await left.write(piece) }
        try await rightSaw
        try await leftSaw
    }

    func readsInSmallPieces() async throws {
        let bytes = Self.bytes(20_000, seed: 3)
        await left.write(bytes)
        try await right.expect(bytes)
    }

    func resumesBigWrites() async throws {
        let bytes = Self.bytes(2 << 20, seed: 4)
        await right.perform { $0.pauseReading() }
        await left.write(bytes)
        await right.perform { $0.resumeReading() }
        try await right.expect(bytes)
    }

    func directionsAreIndependent() async throws {
        let big = Self.bytes(2 << 20, seed: 5)
        let small = Self.bytes(50_000, seed: 6)
        await right.perform { $0.pauseReading() }
        await left.write(big)
        await right.write(small)
        try await left.expect(small)
        await right.perform { $0.resumeReading() }
        try await right.expect(big)
    }

    func endsOutputAlone() async throws {
        let bytes = Self.bytes(300_000, seed: 7)
        await left.write(bytes)
        await left.perform { $0.closeOutput() }
        try await right.expect(bytes)
        try await right.expectEndOfInput()
        await right.write(bytes)
        try await left.expect(bytes)
        await right.perform { $0.close() }
        let reason = try await right.expectClose()
        try require(reason == .closedByOwner, "the stream that ended second reports the close reason \(reason)")
    }

    func closesInOrder() async throws {
        let bytes = Self.bytes(300_000, seed: 8)
        await left.write(bytes)
        await left.perform { $0.close() }
        try await right.expect(bytes)
        try await right.expectEndOfInput()
        await right.perform { $0.close() }
        let reasons = [try await left.expectClose(), try await right.expectClose()]
        try require(
            reasons == [.closedByOwner, .closedByOwner],
            "after an orderly close, the two streams report the close reasons \(reasons)")
    }

    func showsReset() async throws {
        await left.write([1])
        try await right.expect([1])
        await left.perform { $0.abort() }
        let reason = await right.firstEnd()
        guard case .failed = reason else { throw Finding("the peer reports an abrupt close as an orderly end") }
    }

    func closeIsFinal() async throws {
        await left.write([1])
        try await right.expect([1])
        await left.perform { $0.abort() }
        _ = try await left.expectClose()
        // Work that the stream has reported earlier may still wait in the loop and keep the readiness object. After
        // these calls, the loop has done this work.
        for _ in 0..<10 { await left.onLoop { _ in } }
        try require(!streams[0].holdsReadiness, "a closed stream keeps its readiness closure")
    }

    // MARK: Test data

    /// Returns pseudorandom bytes. The same seed gives the same bytes.
    static func bytes(_ count: Int, seed: Int) -> [UInt8] {
        var state = UInt64(truncatingIfNeeded: seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            withUnsafeBytes(of: state) { bytes.append(contentsOf: $0) }
        }
        return Array(bytes.prefix(count))
    }

    /// Splits the bytes into pieces of different sizes, from 1 to about 4,000 bytes.
    private static func pieces(of bytes: [UInt8]) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var offset = 0
        while offset < bytes.count {
            let size = min(1 + offset % 17 * (offset % 251), bytes.count - offset)
            pieces.append(Array(bytes[offset..<(offset + size)]))
            offset += size
        }
        return pieces
    }
}
