import Testing

@testable import CourierTransport

/// Parsing of proxy URLs. No text of a configuration or error contains the password.
@Suite struct ProxyConfigurationTests {
    private struct Row: Sendable {
        let url: String
        let kind: ProxyConfiguration.Kind
        let host: String
        let port: UInt16
        var user: String?
        var password: String?
    }

    private static let rows = [
        Row(url: "http://proxy.example:3128", kind: .http, host: "proxy.example", port: 3_128),
        Row(url: "HTTP://Proxy:1/", kind: .http, host: "Proxy", port: 1),
        Row(url: "socks5://10.0.0.1", kind: .socks5, host: "10.0.0.1", port: 1_080),
        Row(url: "socks5h://[2001:db8::1]:9", kind: .socks5h, host: "2001:db8::1", port: 9),
        Row(url: "socks5h://[::1]", kind: .socks5h, host: "::1", port: 1_080),
        Row(url: "http://u:p@h:65535", kind: .http, host: "h", port: 65_535, user: "u", password: "p"),
        Row(url: "http://u@h:1", kind: .http, host: "h", port: 1, user: "u", password: ""),
        Row(url: "http://u:a:b@h:1", kind: .http, host: "h", port: 1, user: "u", password: "a:b"),
        Row(url: "http://u:a@b@h:1", kind: .http, host: "h", port: 1, user: "u", password: "a@b"),
        Row(
            url: "socks5://m%C3%BC:%40%3a%2F%25@h", kind: .socks5, host: "h", port: 1_080, user: "mü",
            password: "@:/%"),
        Row(
            url: "socks5://d%3Ae:x@[::1]:2", kind: .socks5, host: "::1", port: 2, user: "d:e", password: "x"),
    ]

    @Test func `a proxy URL is parsed into kind, host, port and credentials`() throws {
        for row in Self.rows {
            let proxy = try ProxyConfiguration(url: row.url)
            #expect(proxy.kind == row.kind, "\(row.url)")
            #expect(proxy.host == row.host, "\(row.url)")
            #expect(proxy.port == row.port, "\(row.url)")
            #expect(proxy.credentials?.user == row.user, "\(row.url)")
            #expect(proxy.credentials?.password == row.password, "\(row.url)")
        }
    }

    /// URLs that are refused, and a part of the error. “hunter2” stands wherever a password may occur.
    static let wrong = [
        ("", "no scheme"), ("proxy:3128", "no scheme"), ("user:hunter2@proxy:3128", "no scheme"),
        ("https://u:hunter2@h:1", "TLS to a proxy"), ("socks4://h", "SOCKS"), ("socks://h", "SOCKS"),
        ("hunter2://h:1", "not known"), ("ftp://u:hunter2@h:1", "not known"), ("http://u:hunter2@h", "no port"),
        ("http://u:hunter2@:1", "no host"), ("http://", "no host"), ("http://u:hunter2@", "no host"),
        ("http://u:hunter2", "an invalid port"), ("http://u:hunter2@h:0", "1 to 65535"),
        ("http://u:hunter2@h:65536", "1 to 65535"), ("http://u:hunter2@h:+1", "1 to 65535"),
        ("http://u:hunter2@h:", "1 to 65535"), ("http://u:hunter2@h:1/path", "after its host"),
        ("http://u:hunter2@h:1?q", "after its host"), ("http://u:hun/ter2@h:1", "%2F"),
        ("http://u:hunter2#@h:1", "%23"), ("http://u:hunter2%zz@h:1", "%25"), ("http://u:hunter2%4@h:1", "%25"),
        ("http://u:hunter2%FF@h:1", "%25"), ("http://u:hunter2@::1:80", "brackets"),
        ("http://u:hunter2@[::1:80", "“]”"), ("http://u:hunter2@[h]:80", "not an IPv6"),
        ("http://u:hunter2@[::1]80", "1 to 65535"), ("http://u:hunter2@h h:1", "must be a name"),
        ("http://u:hunter2@h\r\n:1", "must be a name"), ("http://hun%3Ater2:x@h:1", "“:”"),
        ("socks5://u@h", "1 to 255"),
        ("socks5://:hunter2@h", "1 to 255"), ("http://u:hunter2%0A@h:1", "control characters"),
        ("socks5h://u:\(String(repeating: "hunter2", count: 37))@h", "1 to 255"),
    ]

    @Test(arguments: wrong)
    func `the error for an invalid proxy URL names the invalid component and not the password`(
        url: String, words: String
    ) {
        do throws(TransportError) {
            _ = try ProxyConfiguration(url: url)
            Issue.record("accepted: \(url)")
        } catch {
            #expect(error.code == .invalidConfiguration)
            #expect(error.message.contains(words), "\(error)")
            #expect(!error.message.contains("hun"), "\(error)")
        }
    }

    private func expectSecretKept(_ value: Any, sourceLocation: SourceLocation = #_sourceLocation) {
        var dumped = ""
        dump(value, to: &dumped)
        for text in ["\(value)", String(reflecting: value), dumped, "\([value])", String(reflecting: Optional(value))] {
            #expect(!text.contains("hunter2") && !text.contains("gemma"), "\(text)", sourceLocation: sourceLocation)
        }
    }

    @Test func `printing or dumping a proxy setting never shows the credentials`() throws {
        let url = "socks5h://gemma:hunter2@proxy.example:9"
        let proxy = try ProxyConfiguration(url: url)
        #expect("\(proxy)" == "socks5h://proxy.example:9")
        expectSecretKept(proxy)
        expectSecretKept(ProxyCredentials(user: "gemma", password: "hunter2"))
        expectSecretKept(ProxySetting.proxy(proxy))
        expectSecretKept(ProxySetting.variables(["all_proxy": url]))
        #expect("\(ProxySetting.proxy(proxy))" == "proxy socks5h://proxy.example:9")
    }

    @Test func `proxy configurations with different credentials are not equal`() throws {
        let one = try ProxyConfiguration(url: "http://u:a@h:1")
        #expect(one == (try ProxyConfiguration(url: "http://u:a@h:1")))
        #expect(one != (try ProxyConfiguration(url: "http://u:b@h:1")))
    }
}
