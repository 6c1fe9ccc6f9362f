import CourierTesting
import Dispatch
import Glibc
import Synchronization
import Testing

@testable import CourierTransport

@Suite struct `Laws of a byte stream` {
    @Test(arguments: [Int.max, 1_000])
    func `a memory stream passes all checks of DuplexByteStreamLaws`(bytesPerCall: Int) async throws {
        try await DuplexByteStreamLaws.check { MemoryStream.pair(bytesPerCall: bytesPerCall) }
    }

    /// The transport's own stream over a pair of Unix sockets. Unix sockets have no reset.
    @Test func `a socket stream passes all checks of DuplexByteStreamLaws`() async throws {
        try await DuplexByteStreamLaws.check(DuplexByteStreamLaws.Abilities(showsReset: false)) {
            var descriptors: [Int32] = [-1, -1]
            let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            try #require(socketpair(AF_UNIX, type, 0, &descriptors) == 0)
            let streams = descriptors.map { DescriptorStream(reading: $0, writing: $0, name: "socket \($0)") }
            return (streams[0], streams[1])
        }
    }

    @Test(arguments: FaultyStream.Fault.allCases)
    func `for each faulty byte stream, DuplexByteStreamLaws reports a violation of the expected law`(
        fault: FaultyStream.Fault
    )
        async throws
    {
        let violation = await #expect(throws: LawViolation.self) {
            try await DuplexByteStreamLaws.check(laws: [fault.law], patience: fault.patience ?? .seconds(120)) {
                FaultyStream.pair(fault)
            }
        }
        #expect(violation?.law == fault.law.rawValue)
        #expect(violation?.finding.contains("did not happen within") == (fault.patience != nil))
    }

    @Test func `for each byte stream law, at least one faulty stream violates the law`() {
        #expect(Set(FaultyStream.Fault.allCases.map(\.law)) == Set(DuplexByteStreamLaws.Law.allCases))
    }

    @Test func `a stream whose read returns a wrong byte count is reported as a violation`() async throws {
        let violation = await #expect(throws: LawViolation.self) {
            try await DuplexByteStreamLaws.check { FaultyStream.pair(.readsNothing) }
        }
        #expect(violation?.finding.hasSuffix("returned the count 0") == true)
    }

    @Test func `a stream whose read blocks is reported as a timeout violation`() async throws {
        let (left, right) = MemoryStream.pair()
        let stream = BlockingStream(left)
        let violation = await #expect(throws: LawViolation.self) {
            try await DuplexByteStreamLaws.check(laws: [.keepsBytes], patience: .milliseconds(300)) { (stream, right) }
        }
        #expect(violation?.finding.contains("did not happen within") == true)
        let hasGivenUp = stream.hasGivenUp.load(ordering: .relaxed)
        #expect(!hasGivenUp, "the check has waited for the read")
        stream.mayRead.signal()
    }

    @Test func `DuplexByteStreamLaws does not check an optional feature that the stream lacks`() async throws {
        let abilities = DuplexByteStreamLaws.Abilities(canEndOutputAlone: false, showsReset: false)
        try await DuplexByteStreamLaws.check(abilities, laws: [.endsOutputAlone, .showsReset]) {
            FaultyStream.pair(.hidesReset)
        }
    }
}

/// A faulty stream: a read blocks until the first signal, or for a minute.
private final class BlockingStream: DuplexByteStream {
    let mayRead = DispatchSemaphore(value: 0)
    let hasGivenUp = Atomic(false)
    private let stream: MemoryStream

    init(_ stream: MemoryStream) { self.stream = stream }

    var name: String { stream.name }
    func open(_ readiness: StreamReadiness) { stream.open(readiness) }
    func read(into buffer: inout MutableRawSpan) throws(TransportError) -> StreamRead {
        if mayRead.wait(timeout: .now() + 60) == .timedOut { hasGivenUp.store(true, ordering: .relaxed) }
        mayRead.signal()
        return try stream.read(into: &buffer)
    }
    func write(_ bytes: RawSpan) throws(TransportError) -> StreamWrite { try stream.write(bytes) }
    func closeOutput() { stream.closeOutput() }
    func close(abruptly: Bool) { stream.close(abruptly: abruptly) }
}
