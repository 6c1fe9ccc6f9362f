import Testing

@testable import CourierTransport

/// The hosts that a proxy can be asked to connect to.
@Suite struct ProxyTargetTests {
    @Test(arguments: [
        ("broker.example", "broker.example:1883"), ("a_b-c.example.", "a_b-c.example.:1883"),
        ("127.0.0.1", "127.0.0.1:1883"), ("2001:DB8:0:0::1", "[2001:db8::1]:1883"),
    ])
    func `host names and IP addresses are accepted, and IPv6 addresses are normalized`(
        host: String, text: String
    ) throws {
        #expect(try ProxyTarget(host: host, port: 1_883).text == text)
    }

    @Test(arguments: [
        "", "a b", "a\r\nX: y", "a:1", "[::1]", "a/b", "a@b", "bücher.example", "a\u{0}", "%", "a%b",
        String(repeating: "a", count: 254),
    ])
    func `an empty, malformed or too long host is refused`(host: String) {
        #expect(throws: TransportError.self) { try ProxyTarget(host: host, port: 1) }
    }

    @Test func `an IPv6 address with a zone is refused`() {
        do throws(TransportError) {
            _ = try ProxyTarget(host: "fe80::1%lo", port: 1)
            Issue.record("accepted")
        } catch {
            #expect(error.code == .invalidConfiguration)
            #expect(error.message.contains("zone"))
        }
    }
}
