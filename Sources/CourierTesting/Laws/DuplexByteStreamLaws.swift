public import CourierTransport

/// The contract of `DuplexByteStream` as checks that an app runs on its own transport.
///
/// ```swift
/// @Test func `our serial line keeps the laws`() async throws {
///     try await DuplexByteStreamLaws.check(.init(canEndOutputAlone: false, showsReset: false)) {
///         let (left, right) = try pseudoTerminals()
///         return (SerialLine(left), SerialLine(right))
///     }
/// }
/// ```
///
/// Both ends are run by channels on one event loop, as a connection is.
public enum DuplexByteStreamLaws {
    /// One promise of the contract.
    public enum Law: String, CaseIterable, Sendable {
        /// A read says how many bytes it brought and a write how many it took: never more than there are, and `.bytes` at
        /// least one.
        case countsTruly
        /// Bytes come in their order and unchanged, both ways at once, however many are written at a time.
        case keepsBytes
        /// A read into little space leaves the rest for the next one.
        case readsInSmallPieces
        /// More than goes at once is taken in parts, and the stream says when there is room again.
        case resumesBigWrites
        /// A direction whose reader does not read does not hold up the other.
        case directionsAreIndependent
        /// The end of the output lets the peer read what is left and then the end, and the other direction continues.
        case endsOutputAlone
        /// An orderly close lets the peer read what is left and then the end, not an error.
        case closesInOrder
        /// An abrupt close is an error to the peer.
        case showsReset
        /// A closed stream lets go of the readiness that it was opened with, so that it can call it no more.
        case closeIsFinal
    }

    /// What a stream can do beyond what all must.
    public struct Abilities: Sendable {
        /// Whether one direction can end alone; `true` by default.
        public var canEndOutputAlone: Bool
        /// Whether the peer can tell an abrupt end from an orderly one; `true` by default.
        public var showsReset: Bool
        /// Whether the peer is shown any end at all, which a serial line does not; `true` by default.
        public var showsEnd: Bool

        /// Makes a list; everything by default.
        ///
        /// - Parameters:
        ///   - canEndOutputAlone: Whether one direction can end alone.
        ///   - showsReset: Whether the peer can tell an abrupt end from an orderly one.
        ///   - showsEnd: Whether the peer is shown any end at all.
        public init(canEndOutputAlone: Bool = true, showsReset: Bool = true, showsEnd: Bool = true) {
            self.canEndOutputAlone = canEndOutputAlone
            self.showsReset = showsReset
            self.showsEnd = showsEnd
        }
    }

    /// Checks all laws that the abilities allow, each with a new pair.
    ///
    /// - Parameters:
    ///   - abilities: What the stream can do; everything by default.
    ///   - laws: Which laws; all by default.
    ///   - patience: How much real time each law has in all, 2 minutes by default; then it counts as broken. The longest move
    ///     2 MiB: give a slow stream more.
    ///   - makePair: Makes two connected ends that were not opened.
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
                        // A wrong count is the cause of whatever else went wrong.
                        try bench.checkCounts()
                        throw error
                    }
                    await bench.close()
                }
            }
        } catch {
            // Left to itself: a stream that blocks may be what was found, and holds up the end of its loop.
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
