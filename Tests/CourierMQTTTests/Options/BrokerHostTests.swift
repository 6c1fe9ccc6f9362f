import CourierCore
import TestSupport
import Testing

@testable import CourierMQTT

@Suite struct BrokerHostTests {
    @Test(arguments: [
        ("broker.example.com", "broker.example.com"), ("localhost", "localhost"), ("127.0.0.1", "127.0.0.1"),
        ("::1", "::1"), ("[::1]", "::1"), ("fe80::1%eth0", "fe80::1%eth0"), ("[2001:DB8::7]", "2001:DB8::7"),
        ("::ffff:10.0.0.1", "::ffff:10.0.0.1"), ("bücher.example", "bücher.example"), ("my_host.", "my_host."),
    ])
    func `host names and IP addresses are accepted, brackets are removed`(_ text: String, _ expected: String) throws {
        #expect(try BrokerHost(text).string == expected)
    }

    @Test(arguments: [
        ("", "is empty"), (" ", "space"), ("a b", "space"), ("a\n", "space"), ("a\u{0}", "control character"),
        ("mqtt://a", "scheme"), ("a/b", "'/'"), ("user@a", "'@'"), ("a:1883", "port"), ("[::1]:1883", "port"),
        ("127.0.0.1:1883", "port"), ("[a]", "an IPv6"), ("[::1", "an IPv6"), ("::g", "an IPv6"),
        ("fe80::1%", "an IPv6"), ("1:2:3:4:5:6:7:8:9:a", "an IPv6"), ("[]", "an IPv6"), ("[[::1]]", "an IPv6"),
        (String(repeating: "a", count: 254), "254 bytes"),
    ])
    func `an invalid host throws invalidConfiguration and names the mistake`(_ text: String, _ part: String) {
        expectCourierError(.invalidConfiguration, "host", part) { try BrokerHost(text) }
    }

    @Test(arguments: ["mqtts://ada:hunter2@b.example:8883", "ada:hunter2@b.example", "mqtts://ada:hunter2@b/x?y"])
    func `errors and descriptions hide the password in a host that is a URL`(_ host: String) throws {
        let error = try #require(
            expectCourierError(.invalidConfiguration, "<hidden>@b") { try BrokerHost(host) })
        #expect(!"\(error)".contains("hunter2"))
        let options = ConnectOptions(
            host: host, port: 1, clientId: "c", username: "", password: "",
            alternatives: [BrokerEndpoint(host: host, port: 1)])
        #expect(!"\(options)".contains("hunter2"))
        var dumped = ""
        dump(options, to: &dumped)
        #expect(!dumped.contains("hunter2"))
    }
}
