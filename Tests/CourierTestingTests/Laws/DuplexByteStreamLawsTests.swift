import CourierTesting
import Glibc
import Testing

@testable import CourierTransport

@Suite struct `Laws of a byte stream` {
    @Test(arguments: [Int.max, 1_000])
    func `streams in memory keep them`(bytesPerCall: Int) async throws {
        try await DuplexByteStreamLaws.check { MemoryStream.pair(bytesPerCall: bytesPerCall) }
    }

    /// The transport's own stream, over a pair of Unix sockets, which know no reset.
    @Test func `sockets keep them`() async throws {
        try await DuplexByteStreamLaws.check(DuplexByteStreamLaws.Abilities(showsReset: false)) {
            var descriptors: [Int32] = [-1, -1]
            let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            try #require(socketpair(AF_UNIX, type, 0, &descriptors) == 0)
            let streams = descriptors.map { DescriptorStream(reading: $0, writing: $0, name: "socket \($0)") }
            return (streams[0], streams[1])
        }
    }

    @Test(arguments: FaultyStream.Fault.allCases)
    func `each fault breaks its law`(fault: FaultyStream.Fault) async throws {
        let violation = await #expect(throws: LawViolation.self) {
            try await DuplexByteStreamLaws.check(laws: [fault.law], patience: fault.patience ?? .seconds(120)) {
                FaultyStream.pair(fault)
            }
        }
        #expect(violation?.law == fault.law.rawValue)
        #expect(violation?.finding.contains("did not within") == (fault.patience != nil))
    }

    @Test func `each law has a fault that breaks it`() {
        #expect(Set(FaultyStream.Fault.allCases.map(\.law)) == Set(DuplexByteStreamLaws.Law.allCases))
    }

    @Test func `a false count is named and does not trap`() async throws {
        let violation = await #expect(throws: LawViolation.self) {
            try await DuplexByteStreamLaws.check { FaultyStream.pair(.readsNothing) }
        }
        #expect(violation?.finding.hasSuffix("brought 0") == true)
    }

    @Test func `what a stream can not do is not asked of it`() async throws {
        let abilities = DuplexByteStreamLaws.Abilities(canEndOutputAlone: false, showsReset: false)
        try await DuplexByteStreamLaws.check(abilities, laws: [.endsOutputAlone, .showsReset]) {
            FaultyStream.pair(.hidesReset)
        }
    }
}
