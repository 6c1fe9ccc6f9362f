import TestSupport
import Testing

@testable import CourierTransport

/// The greeting, authentication and request of SOCKS5, and every kind of response.
@Suite struct SOCKS5HandshakeTests {
    static let credentials = ProxyCredentials(user: "user", password: "secret")

    private func talk(
        _ answer: [UInt8], _ credentials: ProxyCredentials? = nil, host: String = "broker.example",
        size: () -> Int = { .max }
    ) throws -> HandshakeTalk {
        HandshakeTalk(
            SOCKS5Handshake(try .example(.socks5h, host: host), credentials: credentials), answer, size: size)
    }

    // MARK: Requests

    @Test func `the greeting offers password authentication only if credentials are configured`() throws {
        #expect(try talk([]).sent == [[5, 1, 0]])
        #expect(try talk([], Self.credentials).sent == [[5, 2, 0, 2]])
    }

    @Test func `a proxy that requires a password receives user and password before the request`() throws {
        let talk = try talk([5, 2, 1, 0], Self.credentials)
        try #require(talk.sent.count == 3)
        #expect(talk.sent[1] == [1, 4] + Array("user".utf8) + [6] + Array("secret".utf8))
        #expect(talk.sent[2] == [5, 1, 0, 3, 14] + Array("broker.example".utf8) + [0x22, 0xB3])
    }

    @Test func `user and password are not sent to a proxy that does not require them`() throws {
        let talk = try talk([5, 0], Self.credentials)
        #expect(talk.sent == [[5, 2, 0, 2], [5, 1, 0, 3, 14] + Array("broker.example".utf8) + [0x22, 0xB3]])
    }

    @Test func `a user name of 255 bytes and a password of 255 bytes are sent`() throws {
        let long = String(repeating: "x", count: 255)
        let talk = try talk([5, 2], ProxyCredentials(user: long, password: long))
        #expect(talk.sent[1] == [1, 255] + Array(long.utf8) + [255] + Array(long.utf8))
    }

    @Test(arguments: [
        ("192.0.2.7", [1, 192, 0, 2, 7]),
        ("2001:db8::7", [4, 0x20, 1, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7] as [UInt8]),
    ])
    func `an IP address is requested as an address, not as a host name`(host: String, bytes: [UInt8]) throws {
        let talk = try talk([5, 0], host: host)
        #expect(talk.sent[1] == [5, 1, 0] + bytes + [0x22, 0xB3])
    }

    // MARK: Acceptance

    /// Successful replies with each of the three kinds of address, without and with authentication.
    static let accepted: [[UInt8]] = [
        [5, 0, 5, 0, 0, 1, 127, 0, 0, 1, 0x30, 0x39],
        [5, 0, 5, 0, 0, 4] + [UInt8](repeating: 0, count: 18),
        [5, 0, 5, 0, 0, 3, 4, 0x68, 0x6F, 0x73, 0x74, 0, 80],
        [5, 0, 5, 0, 0, 3, 0, 0, 80],
        [5, 0, 5, 0, 0, 3, 255] + [UInt8](repeating: 0x61, count: 255) + [0, 80],
        [5, 2, 1, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0],
    ]

    @Test(arguments: accepted)
    func `the handshake ends at the last byte of a successful reply and does not read later bytes`(_ answer: [UInt8])
        throws
    {
        let behind: [UInt8] = [5, 0, 0x20]
        for size in 1...answer.count {
            let talk = try talk(answer + behind, Self.credentials, size: { size })
            #expect(talk.outcome == .done(rest: behind), "read by \(size)")
            #expect(talk.handshake.wantedCount == 0)
        }
    }

    @Test(arguments: accepted)
    func `the handshake waits for the missing bytes of an incomplete reply`(_ answer: [UInt8]) throws {
        for count in 0..<answer.count {
            let talk = try talk(Array(answer.prefix(count)), Self.credentials)
            #expect(talk.outcome == .waiting, "\(count) bytes")
            #expect(talk.handshake.wantedCount > 0)
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `the handshake has the same result if the reply is received in small pieces`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let behind = (0..<20).map { _ in UInt8.random(in: 0...255, using: &generator) }
        for answer in Self.accepted + [[5, 2, 1, 1], [5, 0, 5, 4, 0, 1], [4, 0], [5, 0xFF]] {
            let whole = try talk(answer + behind, Self.credentials)
            let parts = try talk(answer + behind, Self.credentials) { Int.random(in: 1...3, using: &generator) }
            #expect(parts.outcome == whole.outcome, "seed \(seed)")
            #expect(parts.sent == whole.sent)
            #expect(whole.outcome != .waiting)
        }
    }

    // MARK: Refusal

    @Test(
        arguments: [
            (1, "gave no exact reason"), (2, "does not allow connections to broker.example:8883"),
            (3, "has no network route to broker.example:8883"), (4, "cannot reach the host broker.example:8883"),
            (5, "reports that broker.example:8883 refused the connection"), (6, "TTL"),
            (7, "does not support the command"), (8, "this kind of address: broker.example:8883"),
            (9, "unknown code 9"), (255, "unknown code 255"),
        ] as [(UInt8, String)])
    func `the error for a refused request describes the reply code, even if the reply has no address`(
        code: UInt8, words: String
    ) throws {
        let error = try #require(try talk([5, 0, 5, code]).error)
        #expect(error.code == .proxyRefused)
        #expect(error.message.hasPrefix("the proxy socks5h://proxy.example:3128 "))
        #expect(error.message.contains(words), "\(error)")
    }

    @Test(
        arguments: [
            ([5, 0xFF], false, TransportError.Code.proxyAuthenticationFailed, "add a user name and a password"),
            ([5, 0xFF], true, .proxyAuthenticationFailed, "accepts neither"),
            (
                [5, 2, 1, 1], true, .proxyAuthenticationFailed,
                "did not accept the user name and the password (status 1)"
            ),
            ([5, 2, 1, 0xFF], true, .proxyAuthenticationFailed, "(status 255)"),
            ([5, 2], false, .proxyFailed, "method 2, which this client did not offer"),
            ([5, 1], true, .proxyFailed, "method 1, which this client did not offer"),
            ([5, 2, 5], true, .proxyFailed, "with version 5 instead of 1"),
            ([4], false, .proxyFailed, "SOCKS4"), ([0], false, .proxyFailed, "SOCKS4"),
            ([0x48], false, .proxyFailed, "begins with http://"), ([0x15], false, .proxyFailed, "TLS"),
            ([0x20], false, .proxyFailed, "first byte is 32"), ([5, 0, 4], false, .proxyFailed, "SOCKS4"),
            ([5, 0, 5, 0, 0, 2], false, .proxyFailed, "the unknown kind 2"),
            ([5, 0, 5, 0, 0, 0], false, .proxyFailed, "the unknown kind 0"),
        ] as [([UInt8], Bool, TransportError.Code, String)])
    func `the handshake fails at the first invalid byte of a reply, and the error contains the reason`(
        answer: [UInt8], hasCredentials: Bool, code: TransportError.Code, words: String
    ) throws {
        let error = try #require(try talk(answer, hasCredentials ? Self.credentials : nil).error)
        #expect(error.code == code)
        #expect(error.message.hasPrefix("the proxy socks5h://proxy.example:3128 "))
        #expect(error.message.contains(words), "\(error)")
        #expect(!error.message.contains("secret"))
    }

    @Test(
        arguments: [
            ([], "the greeting", TransportError.Code.proxyFailed), ([5], "the greeting", .proxyFailed),
            ([5, 2], "the authentication", .proxyAuthenticationFailed),
            ([5, 2, 1], "the authentication", .proxyAuthenticationFailed),
            ([5, 0], "the request for broker.example:8883", .proxyFailed),
            ([5, 2, 1, 0, 5, 0, 0, 1], "the request for broker.example:8883", .proxyFailed),
        ] as [([UInt8], String, TransportError.Code)])
    func `if the proxy is silent or closes the connection, the error names the handshake step`(
        answer: [UInt8], step: String, code: TransportError.Code
    ) throws {
        let handshake = try talk(answer, Self.credentials).handshake
        #expect(handshake.progress == "the proxy socks5h://proxy.example:3128 did not answer \(step)")
        #expect(handshake.closedError.code == code)
        #expect(handshake.closedError.message.contains(step), "\(handshake.closedError)")
    }

    @Test(arguments: SeededGenerator.seeds)
    func `a randomly changed SOCKS5 reply causes no crash, and the handshake never waits for 0 bytes`(seed: UInt64)
        throws
    {
        var generator = SeededGenerator(seed: seed)
        var input = Self.accepted[Int.random(in: 0..<Self.accepted.count, using: &generator)]
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            input[Int.random(in: 0..<input.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
        }
        let talk = try talk(input, Self.credentials)
        if talk.outcome == .waiting { #expect(talk.handshake.wantedCount > 0) }
    }
}
