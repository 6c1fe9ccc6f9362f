import TestSupport
import Testing

@testable import CourierTransport

/// Parses answers of a DNS server, including answers from an attacker.
@Suite struct ServiceRecordAnswerTests {
    private static let sample = [
        ServiceRecord(priority: 1, weight: 2, port: 3, target: "a.example.com"),
        ServiceRecord(priority: 0xFFFF, weight: 0xFFFF, port: 0xFFFF, target: "_b.example"),
        ServiceRecord(priority: 0, weight: 0, port: 0, target: ""),
    ]
    private static let message = DNSServer.message(to: "_mqtt._tcp.example.com", .records(sample))

    private func read(_ bytes: [UInt8]) -> [ServiceRecord]? { ServiceRecordAnswer.records(in: bytes.span.bytes) }

    /// Parses a message to the same question in which these bytes replace one record.
    private func read(record: [UInt8]) -> [ServiceRecord]? { read(DNSServer.message(to: "q.example", .bytes(record))) }

    private func record(type: UInt8 = 33, kind: UInt8 = 1, target: [UInt8], length: Int? = nil) -> [UInt8] {
        let count = length ?? 6 + target.count
        return [0xC0, 12, 0, type, 0, kind, 0, 0, 0, 1, UInt8(count >> 8), UInt8(count & 0xFF), 0, 1, 0, 2, 0, 3]
            + target
    }

    @Test func `all records of a DNS answer are parsed, and an answer without records is valid`() {
        #expect(read(Self.message) == Self.sample)
        #expect(read(DNSServer.message(to: "a", .noRecords)) == [])
    }

    @Test func `a DNS answer that ends too early is reported as malformed`() {
        for count in 0..<Self.message.count {
            #expect(read(Array(Self.message.prefix(count))) == nil, "\(count) bytes")
        }
    }

    @Test func `changing any byte of a DNS answer does not crash the parser or make the parser loop forever`() {
        for index in Self.message.indices {
            for value in [0x00, 0x01, 0x3F, 0x40, 0x80, 0xC0, 0xFF] as [UInt8] {
                var changed = Self.message
                changed[index] = value
                _ = read(changed)
                _ = read(Array(changed.prefix(index + 1)))
            }
        }
    }

    @Test func `random bytes do not crash the parser of DNS answers or exceed its limits`() {
        for seed in UInt64(1)...300 {
            var random = SeededGenerator(seed: seed)
            let count = Int.random(in: 0...200, using: &random)
            var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            if bytes.count > 12, seed % 2 == 0 { bytes.replaceSubrange(4..<8, with: [0, 0, 0, 200]) }
            if let records = read(bytes) {
                #expect(records.count <= ServiceRecordAnswer.recordLimit)
                for record in records { #expect(record.target.utf8.count <= 253) }
            }
        }
    }

    @Test func `the target of a DNS record may point to an earlier name in the answer`() {
        #expect(read(record: record(target: [1, 0x61, 0xC0, 12]))?.map(\.target) == ["a.q.example"])
        #expect(read(record: record(target: [0xC0, 12]))?.map(\.target) == ["q.example"])
    }

    @Test func `a DNS record is skipped if a pointer in its target name does not point to an earlier position`() {
        let start = UInt8(DNSServer.message(to: "q.example", .bytes([])).count + 18)
        #expect(read(record: record(target: [0xC0, start])) == [])
        #expect(read(record: record(target: [1, 0x61, 0xC0, start])) == [])
        #expect(read(record: record(target: [0xC0, 0xFF])) == [])
        #expect(read(record: record(target: [0xFF, 0xFF])) == [])
    }

    @Test func `a DNS record is skipped if the target is not a valid host name`() {
        for letter in Array("/@: \n%\u{0}".utf8) + [0x80, 0xFF] {
            #expect(read(record: record(target: [2, 0x61, letter, 0])) == [])
        }
        let label = [UInt8(63)] + [UInt8](repeating: 0x61, count: 63)
        #expect(read(record: record(target: label + label + label + [61] + label.dropFirst(3) + [0]))?.count == 1)
        #expect(read(record: record(target: label + label + label + label + [0])) == [], "too long")
    }

    @Test func `DNS records of other types and classes are skipped`() {
        #expect(read(record: record(type: 1, target: [0])) == [])
        #expect(read(record: record(kind: 3, target: [0])) == [])
    }

    @Test func `a DNS record whose length does not match the fields is reported as malformed`() {
        #expect(read(record: record(target: [1, 0x61, 0], length: 8)) == nil)
        #expect(read(record: record(target: [1, 0x61, 0], length: 10)) == nil)
        #expect(read(record: record(target: [], length: 6)) == nil)
        #expect(read(record: record(target: [64, 0x61, 0])) == nil)
    }

    @Test func `records of a DNS answer beyond recordLimit are ignored`() {
        let records = (0..<100).map { ServiceRecord(priority: 0, weight: 0, port: 1, target: "h\($0)") }
        let message = DNSServer.message(to: "a", .records(records))
        #expect(read(message)?.count == ServiceRecordAnswer.recordLimit)
    }
}
