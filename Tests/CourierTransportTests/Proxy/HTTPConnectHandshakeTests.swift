import TestSupport
import Testing

@testable import CourierTransport

/// The HTTP CONNECT request, and every kind of response.
@Suite struct HTTPConnectHandshakeTests {
    private func handshake(_ credentials: ProxyCredentials? = nil, host: String = "broker.example") throws
        -> HTTPConnectHandshake
    {
        HTTPConnectHandshake(try .example(.http, host: host), credentials: credentials)
    }

    private func talk(
        _ answer: String, _ credentials: ProxyCredentials? = nil, size: () -> Int = { .max }
    ) throws -> HandshakeTalk {
        HandshakeTalk(try handshake(credentials), Array(answer.utf8), size: size)
    }

    private func request(_ handshake: HTTPConnectHandshake) -> String {
        var handshake = handshake
        return String(decoding: handshake.begin(), as: UTF8.self)
    }

    @Test func `the CONNECT request names host and port, with an IPv6 address in brackets`() throws {
        #expect(
            request(try handshake())
                == "CONNECT broker.example:8883 HTTP/1.1\r\nHost: broker.example:8883\r\n\r\n")
        #expect(
            request(try handshake(host: "2001:DB8::1"))
                == "CONNECT [2001:db8::1]:8883 HTTP/1.1\r\nHost: [2001:db8::1]:8883\r\n\r\n")
    }

    /// The first case is the example in RFC 7617, section 2. The other cases cover the other lengths of Base64 padding.
    @Test(arguments: [
        ("Aladdin", "open sesame", "QWxhZGRpbjpvcGVuIHNlc2FtZQ=="), ("u", "p", "dTpw"), ("u", "", "dTo="),
        ("test", "123£", "dGVzdDoxMjPCow=="),
    ])
    func `the CONNECT request carries the credentials as Basic authentication`(
        user: String, password: String, encoded: String
    ) throws {
        let request = request(try handshake(ProxyCredentials(user: user, password: password)))
        #expect(request.hasSuffix("\r\nProxy-Authorization: Basic \(encoded)\r\n\r\n"))
    }

    static let accepted = [
        "HTTP/1.1 200 Connection established\r\n\r\n", "HTTP/1.0 200 Connection established\r\nProxy-agent: t\r\n\r\n",
        "HTTP/1.1 200\r\n\r\n", "HTTP/1.1 200 \r\n\r\n", "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "HTTP/1.1 200 OK\r\nA:\r\nB: c\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
    ]

    @Test(arguments: accepted)
    func `the handshake ends at the empty line of a successful response and does not read later bytes`(_ answer: String)
        throws
    {
        let behind = "\u{10}\r\n\r\n"
        for size in 1...answer.utf8.count {
            let talk = try talk(answer + behind, size: { size })
            #expect(talk.outcome == .done(rest: Array(behind.utf8)), "read by \(size)")
            #expect(talk.handshake.wantedCount == 0)
            #expect(talk.sent.count == 1)
        }
    }

    @Test(arguments: accepted)
    func `the handshake waits for the missing bytes of an incomplete response`(_ answer: String) throws {
        for count in 0..<answer.utf8.count {
            let talk = HandshakeTalk(try handshake(), Array(answer.utf8.prefix(count)))
            #expect(talk.outcome == .waiting, "\(count) bytes")
            #expect(talk.handshake.wantedCount > 0)
            #expect(talk.handshake.closedError.code == .proxyFailed)
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `the handshake has the same result if the response is received in small pieces`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let refused = "HTTP/1.1 407 No\r\nProxy-Authenticate: NTLM\r\nproxy-authenticate: Negotiate\r\n\r\n"
        let behind = (0..<20).map { _ in UInt8.random(in: 0...255, using: &generator) }
        for answer in Self.accepted + [refused, "HTTP/1.1 502 Bad\r\n\r\n", "HTTP/2 200\r\n\r\n"] {
            let input = Array(answer.utf8) + behind
            let whole = HandshakeTalk(try handshake(), input)
            let parts = HandshakeTalk(try handshake(), input) { Int.random(in: 1...3, using: &generator) }
            #expect(parts.outcome == whole.outcome, "seed \(seed)")
            #expect(whole.outcome != .waiting)
        }
    }

    @Test(arguments: [
        (301, TransportError.Code.proxyRefused, "sign-in"), (400, .proxyRefused, "(status 400)"),
        (401, .proxyAuthenticationFailed, "(status 401)"),
        (403, .proxyRefused, "does not allow connections to broker.example:8883"),
        (404, .proxyRefused, "(status 404)"), (405, .proxyRefused, "is it a proxy?"),
        (407, .proxyAuthenticationFailed, "add them to the proxy's configuration"),
        (500, .proxyRefused, "could not connect to broker.example:8883"),
        (502, .proxyRefused, "could not connect to broker.example:8883"),
        (503, .proxyRefused, "can the proxy reach it"),
        (504, .proxyRefused, "got no answer from broker.example:8883 in time"),
        (101, .proxyFailed, "another protocol"), (599, .proxyRefused, "(status 599)"),
    ])
    func `the error for an HTTP error status names the proxy and how to fix the problem`(
        status: Int, code: TransportError.Code, words: String
    ) throws {
        let error = try #require(try talk("HTTP/1.1 \(status) Some words\r\nA: b\r\n\r\n<html>").error)
        #expect(error.code == code)
        #expect(error.message.hasPrefix("the proxy http://proxy.example:3128 "))
        #expect(error.message.contains(words), "\(error)")
    }

    @Test(arguments: [
        ("Basic realm=\"x, NTLM\"", true, "did not accept"), ("Digest realm=\"r\", nonce=\"n\"", true, "by Digest"),
        ("NTLM\r\nProxy-Authenticate: Negotiate", false, "by NTLM or Negotiate"),
        ("Digest realm=\"r\", Basic realm=\"r\"", false, "wants a user name and a password"),
        ("Unheard-of", true, "did not accept"),
    ])
    func `the error for HTTP status 407 depends on the authentication methods that the proxy offers`(
        offered: String, hasCredentials: Bool, words: String
    ) throws {
        let credentials = hasCredentials ? ProxyCredentials(user: "u", password: "p") : nil
        let error = try #require(
            try talk("HTTP/1.1 407 Auth\r\nProxy-Authenticate: \(offered)\r\n\r\n", credentials).error)
        #expect(error.code == .proxyAuthenticationFailed)
        #expect(error.message.contains(words), "\(error)")
        #expect(error.message.contains("status 407"))
    }

    @Test(arguments: [
        ("\u{05}\u{01}", "socks5h://"), ("\u{15}\u{03}", "TLS"), ("\u{16}\u{03}", "TLS"), ("SSH-2.0-x\r\n", "HTTP/1.1"),
        ("h", "HTTP/1.1"), ("\r", "HTTP/1.1"), ("\n", "HTTP/1.1"), ("HTTP/2 ", "HTTP/1.1"),
        ("HTTP/1.1 100 C\r\n\r\nfoo", "HTTP/1.1"),
    ])
    func `the handshake fails at the first bytes of a response that is not HTTP`(
        answer: String, words: String
    ) throws {
        let error = try #require(try talk(answer).error)
        #expect(error.code == .proxyFailed)
        #expect(error.message.contains(words), "\(error)")
    }

    @Test(arguments: [
        ("HTTP/1.1 20", "status line"), ("HTTP/1.1 2000 OK", "status line"), ("HTTP/1.1200 OK", "status line"),
        ("HTTP/1.1 2x0 OK", "status line"), ("HTTP/1.1 020 OK", "status line"), ("HTTP/1.", "status line"),
        ("HTTP/1.1 600 OK", "status line"), ("HTTP/1.1 200 OK\r\nno colon", "without a colon"),
        ("HTTP/1.1 200 OK\r\na b: c", "forbidden name"), ("HTTP/1.1 200 O\nK: k", "control character"),
    ])
    func `the handshake fails at the end of a malformed response head`(head: String, words: String) throws {
        let error = try #require(try talk("\(head)\r\n\r\n").error)
        #expect(error.code == .proxyFailed)
        #expect(error.message.contains(words), "\(error)")
    }

    @Test func `a response with too many bytes, header fields or interim responses is refused`() throws {
        let limit = HTTPConnectHandshake.headLimit
        let fill = String(repeating: "x", count: limit)
        for answer in ["HTTP/1.1 200 \(fill)", "HTTP/1.1 200 OK\r\na: \(fill)"] {
            let error = try #require(try talk(answer).error)
            #expect(error.code == .proxyFailed)
            #expect(error.message.contains("more than 16384 bytes"))
        }
        let fields = String(repeating: "a: b\r\n", count: HTTPConnectHandshake.fieldLimit)
        #expect(try talk("HTTP/1.1 200 OK\r\n\(fields)\r\n").outcome == .done(rest: []))
        #expect(try talk("HTTP/1.1 200 OK\r\nb: c\r\n\(fields)\r\n").error?.message.contains("more than 100") == true)
        let interim = String(repeating: "HTTP/1.1 100 C\r\n\r\n", count: HTTPHead.interimLimit)
        #expect(try talk("\(interim)HTTP/1.1 200 OK\r\n\r\n").outcome == .done(rest: []))
        #expect(try talk("\(interim)HTTP/1.1 103 E\r\n\r\n").error?.message.contains("more than 8 interim") == true)
        let head = "HTTP/1.1 200 OK\r\na: "
        let atLimit = head + String(repeating: "x", count: limit - head.utf8.count - 4) + "\r\n\r\n"
        #expect(try talk(atLimit).outcome == .done(rest: []))
    }

    @Test(arguments: SeededGenerator.seeds)
    func `a randomly changed HTTP response causes no crash, and the handshake never waits for 0 bytes`(seed: UInt64)
        throws
    {
        var generator = SeededGenerator(seed: seed)
        var input = Array(Self.accepted[Int.random(in: 0..<Self.accepted.count, using: &generator)].utf8)
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            input[Int.random(in: 0..<input.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
        }
        let talk = HandshakeTalk(try handshake(), input)
        if talk.outcome == .waiting { #expect(talk.handshake.wantedCount > 0) }
    }

    @Test func `the error contains no credentials, even if the proxy's response contains them`() throws {
        let credentials = ProxyCredentials(user: "aladdin", password: "sesame")
        let echo = "aladdin:sesame YWxhZGRpbjpzZXNhbWU="
        for status in [101, 302, 403, 407, 418, 502] {
            let answer = "HTTP/1.1 \(status) \(echo)\r\nProxy-Authenticate: \(echo)\r\nX: \(echo)\r\n\r\n"
            let text = "\(try #require(try talk(answer, credentials).error))"
            for secret in ["aladdin", "sesame", "YWxh"] { #expect(!text.contains(secret), "\(text)") }
        }
    }

    @Test func `while the handshake waits, its progress text names the proxy and the unanswered request`() throws {
        let talk = try talk("HTTP/1.1 2")
        #expect(
            talk.handshake.progress
                == "the proxy http://proxy.example:3128 did not answer the request for broker.example:8883")
        #expect(talk.handshake.closedError.message.contains("while it answered"))
    }
}
