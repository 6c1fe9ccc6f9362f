import TestSupport
import Testing

@testable import CourierTransport

/// DNS queries for service records, with a DNS server on this machine.
@Suite(.timeLimit(.minutes(5))) struct ServiceRecordsTests {
    private static let name = "_mqtt._tcp.example.com"

    private func ask(_ records: ServiceRecords, _ name: String = name) async -> ServiceRecords.Answer {
        await withCheckedContinuation { continuation in records.lookUp(name) { continuation.resume(returning: $0) } }
    }

    private func answer(_ answer: DNSServer.Answer) async throws -> ServiceRecords.Answer {
        let server = try DNSServer([Self.name: answer])
        defer { server.end() }
        let found = await ask(try ServiceRecords(server: "127.0.0.1", port: server.port))
        #expect(server.asked.first == Self.name)
        return found
    }

    @Test func `lookUp() returns the service records of the DNS server`() async throws {
        let records = [
            ServiceRecord(priority: 10, weight: 60, port: 1883, target: "a.example.com"),
            ServiceRecord(priority: 20, weight: 0, port: 65_535, target: "b-2.example.org"),
        ]
        #expect(try await answer(.records(records)) == .records(records))
    }

    @Test func `lookUp() returns all records of an answer that does not fit into a small UDP datagram`() async throws {
        let records = (0..<20).map {
            ServiceRecord(priority: 0, weight: 1, port: 1883, target: "node-\($0).a-rather-long-name.example.com")
        }
        guard case .records(let found) = try await answer(.records(records)) else {
            Issue.record("no records")
            return
        }
        #expect(found == records)
    }

    @Test func `lookUp() returns different results for missing records, an unavailable service and a DNS failure`()
        async throws
    {
        #expect(try await answer(.noName) == .none)
        #expect(try await answer(.noRecords) == .none)
        let root = ServiceRecord(priority: 0, weight: 0, port: 0, target: "")
        #expect(try await answer(.records([root])) == .unavailable)
        #expect(try await answer(.failure) == .failed("the DNS server does not answer"))
    }

    @Test func `lookUp() fails if the answer of the DNS server is malformed`() async throws {
        #expect(try await answer(.bytes([0xC0])) == .failed("the answer is malformed"))
    }

    @Test func `lookUp() fails for names that are invalid in DNS, and sends no query`() async throws {
        let server = try DNSServer()
        defer { server.end() }
        let records = try ServiceRecords(server: "127.0.0.1", port: server.port)
        for name in ["", String(repeating: "x", count: 300), "a\0b"] {
            guard case .failed = await ask(records, name) else {
                Issue.record("\(name.debugDescription) was asked for")
                continue
            }
        }
        #expect(server.asked == [])
    }

    @Test func `ServiceRecords accepts only an IPv4 address and a port as DNS server`() {
        #expect(throws: TransportError.self) { try ServiceRecords(server: "dns.example", port: 53) }
        #expect(throws: TransportError.self) { try ServiceRecords(server: "127.0.0.1", port: 0) }
    }
}
