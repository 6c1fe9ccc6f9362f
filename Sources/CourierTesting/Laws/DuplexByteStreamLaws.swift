public import CourierTransport

/// Checks the contract of `DuplexByteStream`. An app runs these checks on its own transport.
///
/// ```swift
/// @Test func `our serial line passes DuplexByteStreamLaws`() async throws {
///     try await DuplexByteStreamLaws.check(.init(canEndOutputAlone: false, showsReset: false)) {
///         let (left, right) = try pseudoTerminals()
///         return (SerialLine(left), SerialLine(right))
///     }
/// }
/// ```
///
/// The streams are tested in pairs. Each stream of a pair belongs to a channel, and both channels run on one event
/// loop.
public enum DuplexByteStreamLaws {
    /// One requirement of the contract.
    public enum Law: String, CaseIterable, Sendable {
        /// A read returns the number of bytes read, and a write the number of bytes accepted. The number never exceeds
        /// the available bytes. In the result `.bytes`, the number is at least 1.
        case countsTruly
        /// Bytes arrive unchanged and in the order of the writes, in both directions at once, for any size of writes.
        case keepsBytes
        /// A read into a small buffer leaves the remaining bytes for the next read.
        case readsInSmallPieces
        /// A write that exceeds the available space is accepted in parts. The stream signals when it can accept the
        /// next part.
        case resumesBigWrites
        /// If one side does not read, bytes in the other direction still arrive.
        case directionsAreIndependent
        /// After one side ends its output, the peer reads the remaining bytes and then the end of the stream. Bytes in
        /// the other direction still arrive.
        case endsOutputAlone
        /// After an orderly close, the peer reads the remaining bytes and then the end of the stream, without an error.
        case closesInOrder
        /// After an abrupt close, the peer gets an error.
        case showsReset
        /// A closed stream releases the readiness object that it was opened with, so that the stream cannot call the
        /// object again.
        case closeIsFinal
    }

    /// The optional abilities of a stream.
    public struct Abilities: Sendable {
        /// Whether one direction of the stream can end while the other direction continues; `true` by default.
        public var canEndOutputAlone: Bool
        /// Whether the peer can distinguish an abrupt end from an orderly one; `true` by default.
        public var showsReset: Bool
        /// Whether the peer can see that the stream was closed; `true` by default. With a serial line, for example, it
        /// cannot.
        public var showsEnd: Bool

        /// Makes a set of abilities; all are `true` by default.
        ///
        /// - Parameters:
        ///   - canEndOutputAlone: Whether one direction can end alone.
        ///   - showsReset: Whether the peer can distinguish an abrupt end from an orderly one.
        ///   - showsEnd: Whether the peer can see that the stream was closed.
        public init(canEndOutputAlone: Bool = true, showsReset: Bool = true, showsEnd: Bool = true) {
            self.canEndOutputAlone = canEndOutputAlone
            self.showsReset = showsReset
            self.showsEnd = showsEnd
        }
    }

    /// Checks the laws that the abilities allow. Each law gets a new pair of streams.
    ///
    /// - Parameters:
    ///   - abilities: The abilities of the stream; all by default.
    ///   - laws: The laws to check; all by default.
    ///   - patience: The real time limit of each law, 2 minutes by default. After this time, the law counts as broken.
    ///     Some laws move 2 MiB, so a slow stream needs more time.
    ///   - makePair: Makes two connected streams that are not opened yet.
    /// - Throws: ``LawViolation`` for the first law that is broken; a `TransportError` when no event loop can be made.
    public static func check(
        _ abilities: Abilities = Abilities(), laws: [Law] = Law.allCases, patience: Duration = .seconds(120),
        _ makePair: @escaping @Sendable () async throws -> (any DuplexByteStream, any DuplexByteStream)
    ) async throws {
        let loop = try EventLoop(name: "stream-laws")
        do {
            for law in laws where law.isDue(abilities) {
                try await LawRun.run(law.rawValue, patience: patience) {
                    let (left, right) = try await makePair()
                    let bench = await StreamBench.open(left, right, on: loop, bytesPerRead: law.bytesPerRead)
                    do {
                        try await law.check(bench)
                        try bench.checkCounts()
                    } catch {
                        // If the stream has returned a wrong number of bytes, this may have caused the error, so the
                        // wrong number is reported first.
                        try bench.checkCounts()
                        throw error
                    }
                    await bench.close()
                }
            }
        } catch {
            // This code does not wait for the shutdown, because the event loop never ends if the stream blocks.
            Task { await loop.shutdown() }
            throw error
        }
        await loop.shutdown()
    }
}

extension DuplexByteStreamLaws.Law {
    fileprivate func isDue(_ abilities: DuplexByteStreamLaws.Abilities) -> Bool {
        switch self {
        case .endsOutputAlone: abilities.canEndOutputAlone && abilities.showsEnd
        case .showsReset: abilities.showsReset && abilities.showsEnd
        case .closesInOrder: abilities.showsEnd
        case .countsTruly, .keepsBytes, .readsInSmallPieces, .resumesBigWrites, .directionsAreIndependent,
            .closeIsFinal:
            true
        }
    }

    fileprivate var bytesPerRead: Int { self == .readsInSmallPieces ? 7 : .max }

    fileprivate func check(_ bench: StreamBench) async throws {
        switch self {
        case .countsTruly: try await bench.countsTruly()
        case .keepsBytes: try await bench.keepsBytes()
        case .readsInSmallPieces: try await bench.readsInSmallPieces()
        case .resumesBigWrites: try await bench.resumesBigWrites()
        case .directionsAreIndependent: try await bench.directionsAreIndependent()
        case .endsOutputAlone: try await bench.endsOutputAlone()
        case .closesInOrder: try await bench.closesInOrder()
        case .showsReset: try await bench.showsReset()
        case .closeIsFinal: try await bench.closeIsFinal()
        }
    }
}
