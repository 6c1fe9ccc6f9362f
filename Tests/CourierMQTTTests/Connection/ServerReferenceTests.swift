import Testing

@testable import CourierMQTT

@Suite struct ServerReferenceTests {
    private func read(_ text: String) -> String? {
        ServerReference(firstOf: text).map { "\($0.host) \($0.port.map { "\($0)" } ?? "same port")" }
    }

    @Test func `server references with host names, IP addresses and ports are parsed`() {
        #expect(read("myserver.xyz.org") == "myserver.xyz.org same port")
        #expect(read("myserver.xyz.org:8883") == "myserver.xyz.org 8883")
        #expect(read("10.10.151.22:8883 [fe80::9610:3eff:fe1c]:1883") == "10.10.151.22 8883")
        #expect(read("[fe80::9610:3eff:fe1c]:1883") == "fe80::9610:3eff:fe1c 1883")
        #expect(read("[::1]") == "::1 same port")
        #expect(read("2001:db8::7") == "2001:db8::7 same port")
    }

    @Test func `the first valid server reference in a list is used`() {
        #expect(read("  mqtt://x  a/b  ok:1 other:2") == "ok 1")
        #expect(read("mqtt:node2:1883 node2:1883") == "node2 1883")
    }

    @Test func `parsing an invalid server reference returns nil`() {
        for text in [
            "", " ", ":", ":1883", "host:", "host:0", "host:65536", "host:-1", "host:1x", "[::1", "[::1]x", "[host]:1",
            "mqtt:node2:1883", "host:1883:x", "[g::1]", "[g::1]:1883", "fe80::1%", "[fe80::1%]", "1::2::3::4::5::6",
            "a\tb", "ho\u{0}st", "user@host", "häuser", String(repeating: "x", count: 300),
        ] {
            #expect(read(text) == nil, "\(text.debugDescription)")
        }
    }
}
