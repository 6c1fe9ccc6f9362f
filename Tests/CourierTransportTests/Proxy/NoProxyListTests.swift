import Testing

@testable import CourierTransport

/// The hosts that an entry of `no_proxy` matches.
@Suite struct NoProxyListTests {
    @Test(arguments: [
        ("*", "any.example", true), ("x.example,*", "any.example", true), ("", "any.example", false),
        (" , ,", "any.example", false),
        // Names.
        ("example.com", "example.com", true), ("example.com", "a.b.example.com", true),
        ("example.com", "nonexample.com", false), ("example.com", "example.com.evil", false),
        (".example.com", "a.example.com", true), (".example.com", "example.com", true),
        (".example.com", "nonexample.com", false), ("*.example.com", "a.example.com", true),
        ("*.example.com", "nonexample.com", false), ("Example.COM.", "eXample.com", true),
        ("example.com", "example.com.", true), ("localhost", "localhost", true), ("com", "example.com", true),
        (".", "example.com", false), ("a.example b.example", "b.example", true),
        ("a.example,\u{301}b", "a.example", true), ("a.example, b.example\t", "b.example", true),
        ("a.example,b.example", "c.example", false),
        // Addresses.
        ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "127.0.0.2", false), ("0.0.1", "127.0.0.1", false),
        ("::1", "::1", true), ("[::1]", "::1", true), ("2001:DB8::1", "2001:db8:0:0::1", true), ("::1", "::2", false),
        ("1", "127.0.0.1", false), ("127.0.0.1", "127.0.0.1.example", false),
        // Networks.
        ("10.0.0.0/8", "10.255.3.4", true), ("10.0.0.0/8", "11.0.0.1", false),
        ("192.168.4.0/22", "192.168.7.255", true), ("192.168.4.0/22", "192.168.8.0", false),
        ("192.168.4.9/22", "192.168.5.1", true), ("192.0.2.1/32", "192.0.2.1", true),
        ("192.0.2.1/32", "192.0.2.2", false), ("0.0.0.0/0", "203.0.113.9", true), ("0.0.0.0/0", "::1", false),
        ("2001:db8::/32", "2001:db8:ffff::1", true), ("2001:db8::/32", "2001:db9::1", false),
        ("[2001:db8::]/32", "2001:db8::1", true), ("::/0", "10.0.0.1", false), ("10.0.0.0/8", "ten.example", false),
        ("10.0.0.0/33", "10.0.0.1", false), ("10.0.0.0/-1", "10.0.0.1", false), ("10.0.0.0/", "10.0.0.1", false),
        ("10.0.0.0/8/8", "10.0.0.1", false), ("example.com/8", "example.com", false),
        // Ports. The test connects to port 8883.
        ("example.com:8883", "example.com", true), ("example.com:1883", "example.com", false),
        (".example.com:8883", "a.example.com", true), ("127.0.0.1:8883", "127.0.0.1", true),
        ("127.0.0.1:1883", "127.0.0.1", false), ("[::1]:8883", "::1", true), ("[::1]:1883", "::1", false),
        ("*:8883", "any.example", true), ("*:1883", "any.example", false), ("::8883", "::8883", true),
        ("example.com:99999", "example.com", false),
    ])
    func `an entry of no_proxy can match a host by name, IP address, network or port`(
        list: String, host: String, isContained: Bool
    ) {
        #expect(NoProxyList(list).contains(host: host, port: 8_883) == isContained)
    }
}
