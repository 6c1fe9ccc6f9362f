import Foundation
import Testing

@testable import CourierAuthHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct RedirectRulesTests {
    private let rules = RedirectRules(maximumCount: 3)

    private func step(
        _ status: Int, _ location: String?, method: String = "POST", count: Int = 0
    ) throws -> RedirectRules.Step? {
        let url = try #require(URL(string: "https://id.example:8443/a/token?x=1"))
        let reply = HTTPReply(status: status, location: location, retryAfter: nil, body: Data())
        return try rules.step(after: reply, from: url, method: method, count: count)
    }

    @Test(arguments: [
        ("/b", "https://id.example:8443/b"), ("b?y=2", "https://id.example:8443/a/b?y=2"),
        ("//id.example:8443/c", "https://id.example:8443/c"),
        ("HTTPS://ID.EXAMPLE:8443/d", "HTTPS://ID.EXAMPLE:8443/d"),
    ])
    func `a redirect to the same origin is followed`(location: String, expected: String) throws {
        #expect(try step(308, location)?.url.absoluteString == expected)
    }

    @Test(arguments: [
        "http://id.example:8443/b", "https://id.example/b", "https://other.example:8443/b", "//other.example:8443/",
        "https://id.example:8443@other.example/", "ftp://id.example:8443/b", "javascript:alert(1)",
        "https://id.example.evil.example:8443/",
    ])
    func `a redirect to another scheme, host or port is refused, and the error hides the query`(location: String) throws
    {
        #expect {
            try step(307, location + "?s3cret")
        } throws: { error in
            guard let refusal = error as? RedirectRules.Refusal else { return false }
            return refusal.message.contains("another origin") && !refusal.message.contains("s3cret")
        }
    }

    @Test func `the redirects 307 and 308 keep every HTTP method, but 301 and 302 keep only the method GET`() throws {
        for (status, keeps) in [(301, false), (302, false), (303, false), (307, true), (308, true)] {
            #expect(try step(status, "/b")?.keepsMethod == keeps)
        }
        for (status, keeps) in [(301, true), (302, true), (303, false)] {
            #expect(try step(status, "/b", method: "GET")?.keepsMethod == keeps)
        }
    }

    @Test func `an HTTP status other than 301, 302, 303, 307 and 308 is not a redirect`() throws {
        for status in [200, 201, 300, 304, 305, 306, 400, 500] { #expect(try step(status, "/b") == nil) }
    }

    @Test func `a redirect after the maximum count or without a Location field is refused`() throws {
        #expect(try step(307, "/b", count: 2) != nil)
        #expect(throws: RedirectRules.Refusal.self) { try step(307, "/b", count: 3) }
        #expect(throws: RedirectRules.Refusal.self) { try step(307, nil) }
    }
}

@Suite struct RequestRulesTests {
    private func check(
        _ url: String, plain: Bool = false, _ variables: [String: String] = [:]
    ) throws -> HTTPOrigin {
        try RequestRules(allowsPlainHTTP: plain, environment: ProxyEnvironment { variables[$0] })
            .check(URLRequest(url: try #require(URL(string: url))))
    }

    @Test(arguments: [
        "https://id.example/", "http://localhost:80/", "http://127.0.0.1/", "http://127.9.8.7/", "http://[::1]:8080/",
    ])
    func `HTTPS to any host and plain HTTP to localhost are allowed`(url: String) throws { _ = try check(url) }

    @Test(arguments: [
        "http://id.example/", "http://127.evil.example/", "http://127.0.0.1.evil.example/", "http://127.0.0.256/",
        "http://localhost.evil.example/", "http://[::2]/", "http://0.0.0.0/",
    ])
    func `plain HTTP to another host is refused unless allowsPlainHTTP is true`(url: String) throws {
        #expect(throws: RequestRules.Refusal.self) { try check(url) }
        _ = try check(url, plain: true)
    }

    @Test(arguments: [
        ("http_proxy", "http://127.0.0.1/", "127.0.0.2 localhost,10.0.0.1"), ("all_proxy", "http://localhost:80/", ""),
        ("ALL_PROXY", "http://[::1]/", "127.0.0.1,localhost"), ("http_proxy", "http://localhost/", "host"),
        ("http_proxy", "http://127.0.0.1/", "0.0.1"), ("http_proxy", "http://127.0.0.1/", "a,*"),
    ])
    func `plain HTTP to localhost is refused if an environment variable sets an HTTP proxy`(
        name: String, url: String, direct: String
    ) throws {
        let variables = [name: "http://s3cret@proxy.example:3128", "no_proxy": direct]
        #expect {
            _ = try check(url, variables)
        } throws: { error in
            guard let message = (error as? RequestRules.Refusal)?.message else { return false }
            return message.contains("variable \(name) ") && message.contains("no_proxy") && !message.contains("s3cret")
        }
        _ = try check(url, plain: true, variables)
        _ = try check("https://id.example/", variables)
    }

    @Test(arguments: [
        ("http://127.0.0.1/", "*"), ("http://127.0.0.1/", "id.example, 127.0.0.1"), ("http://localhost/", "LOCALHOST"),
        ("http://localhost/", "a .localhost"), ("http://[::1]/", "::1"),
    ])
    func `plain HTTP to localhost is allowed if no_proxy lists the host`(url: String, direct: String)
        throws
    {
        _ = try check(url, ["http_proxy": "http://proxy.example:3128", "no_proxy": direct])
        _ = try check(url, ["ALL_PROXY": "http://proxy.example:3128", "no_proxy": "", "NO_PROXY": direct])
        // Curl ignores HTTP_PROXY in upper case, and uses https_proxy only for HTTPS.
        _ = try check(url, ["HTTP_PROXY": "http://proxy.example:3128", "https_proxy": "http://proxy.example:3128"])
    }

    @Test(arguments: ["ftp://id.example/", "/token", "https:///token", "https://ada:s3cret@id.example/"])
    func `an invalid URL is refused, and the error shows no secret`(url: String) throws {
        #expect {
            try check(url, plain: true)
        } throws: { error in
            (error as? RequestRules.Refusal)?.message.contains("s3cret") == false
        }
    }

    @Test(arguments: [
        ("X-A", "s3cret\r\nX-B: c"), ("X-A", "s3cret\n"), ("X-A\r\nX-B", "s3cret"), ("X A", "s3cret"), ("", "s3cret"),
        ("X-A", "s3cret\u{0}"), ("s3cret:", "x"),
    ])
    func `an invalid header field is refused, and the error does not show the field`(name: String, value: String) throws
    {
        let request = TokenRequest(url: try #require(URL(string: "https://id.example/")), headers: [name: value])
        #expect {
            try RequestRules(allowsPlainHTTP: false).request(for: request)
        } throws: { error in
            (error as? RequestRules.Refusal)?.message.contains("s3cret") == false
        }
    }
}

@Suite struct RetryAfterTests {
    static let now = Date(timeIntervalSince1970: 784_111_767)  // 10 s before the date of RFC 9110.

    private func pause(_ text: String?) -> Duration? {
        RetryAfter.pause(text, now: Self.now, maximum: .seconds(120))
    }

    @Test func `Retry-After is accepted as a number of seconds and as a date`() {
        #expect(pause("30") == .seconds(30))
        #expect(pause(" 0 ") == .zero)
        #expect(pause("Sun, 06 Nov 1994 08:49:37 GMT") == .seconds(10))
        #expect(pause("Sunday, 06-Nov-94 08:49:37 GMT") == .seconds(10))
        #expect(pause("Sun Nov  6 08:49:37 1994") == .seconds(10))
        #expect(pause("Sun, 06 Nov 1994 08:49:20 GMT") == .zero)
    }

    @Test func `a Retry-After pause is limited to the maximum`() {
        for text in ["121", "99999999999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"] {
            #expect(pause(text) == .seconds(120))
        }
    }

    @Test func `an invalid or missing Retry-After is ignored`() {
        for text in [nil, "", " ", "-1", "1.5", "soon", "+3", "06 Nov", "٣"] { #expect(pause(text) == nil) }
    }
}

@Suite struct HTTPRetryPolicyTests {
    @Test func `retry pauses double up to maximumPause, with random jitter, until maximumAttempts`() {
        let policy = HTTPRetryPolicy(maximumAttempts: 6, firstPause: .seconds(2), maximumPause: .seconds(10))
        for (count, whole) in [(1, 2), (2, 4), (3, 8), (4, 10), (5, 10)] {
            #expect(policy.pause(afterFailures: count, random: 0) == .seconds(whole) / 2)
            #expect(policy.pause(afterFailures: count, random: 1) == .seconds(whole))
        }
        #expect(policy.pause(afterFailures: 6, random: 0.5) == nil)
        #expect(HTTPRetryPolicy.off.pause(afterFailures: 1, random: 0.5) == nil)
    }

    @Test func `extreme retry policy values do not crash`() {
        let odd = HTTPRetryPolicy(maximumAttempts: .max, firstPause: .seconds(-1), maximumPause: .seconds(Int64.max))
        #expect(odd.pause(afterFailures: .max - 1, random: 0.5) == .zero)
    }
}
