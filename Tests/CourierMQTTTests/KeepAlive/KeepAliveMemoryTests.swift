import Foundation
import Testing

@testable import CourierMQTT

@Suite struct KeepAliveMemoryTests {
    private func finding(_ network: String, _ seconds: Int = 60, failed: Int? = nil) -> KeepAliveMemory.Finding {
        KeepAliveMemory.Finding(
            network: network, interval: .seconds(seconds), failedInterval: failed.map { .seconds($0) },
            date: Date(timeIntervalSince1970: 1_000_000_000.5))
    }

    @Test func `the keep-alive memory stores one interval per network and lists the newest network last`() {
        var memory = KeepAliveMemory()
        #expect(memory["a"] == nil)
        memory.keep(finding("a"))
        memory.keep(finding("b"))
        memory.keep(finding("a", 90))
        #expect(memory.findings.map(\.network) == ["b", "a"])
        #expect(memory["a"]?.interval == .seconds(90))
    }

    @Test func `a full keep-alive memory removes the least recently used network first`() {
        var memory = KeepAliveMemory()
        for number in 0..<KeepAliveMemory.limit { memory.keep(finding("\(number)")) }
        memory.keep(finding("0"))
        memory.keep(finding("one more"))
        #expect(memory.findings.count == KeepAliveMemory.limit)
        #expect(memory["0"] != nil)
        #expect(memory["1"] == nil)
    }

    @Test func `a keep-alive memory encoded as JSON or as a property list decodes unchanged`() throws {
        var memory = KeepAliveMemory()
        memory.keep(finding("wlan0 via 192.168.1.1", 60, failed: 120))
        memory.keep(
            KeepAliveMemory.Finding(
                network: "", interval: .milliseconds(1_500), failedInterval: nil, date: .distantPast))
        let json = try JSONEncoder().encode(memory)
        #expect(try JSONDecoder().decode(KeepAliveMemory.self, from: json) == memory)
        let list = try PropertyListEncoder().encode(memory)
        #expect(try PropertyListDecoder().decode(KeepAliveMemory.self, from: list) == memory)
    }

    @Test func `a decoded keep-alive memory has each network once and no more networks than the limit`() throws {
        struct Stored: Encodable { let findings: [KeepAliveMemory.Finding] }
        let findings = (0..<1_000).map { finding("\($0 % 500)", $0) }
        let memory = try JSONDecoder().decode(
            KeepAliveMemory.self, from: try JSONEncoder().encode(Stored(findings: findings)))
        #expect(memory.findings == Array(findings.suffix(KeepAliveMemory.limit)))
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(KeepAliveMemory.self, from: Data("{}".utf8))
        }
    }
}
