import TestSupport
import Testing

@testable import CourierTransport

@Suite struct WebSocketHandshakeTests {
    // MARK: Request

    @Test func `the WebSocket request has the headers of RFC 6455, of MQTT and of the app`() throws {
        let key = try #require(WebSocketKey("dGhlIHNhbXBsZSBub25jZQ=="))
        let configuration = WebSocketConfiguration(
            path: "/mqtt?region=eu", headers: ["X-B": "2", "Authorization": "Bearer abc"])
        let handshake = WebSocketClientHandshake(configuration, host: "broker:8080", peerName: "broker:8080", key: key)
        #expect(
            handshake.request
                == "GET /mqtt?region=eu HTTP/1.1\r\nHost: broker:8080\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                + "Sec-WebSocket-Protocol: mqtt\r\nAuthorization: Bearer abc\r\nX-B: 2\r\n\r\n")
    }

    /// The example is from RFC 6455, section 1.3.
    @Test func `the Sec-WebSocket-Accept value for the example key matches RFC 6455`() throws {
        let key = try #require(WebSocketKey("dGhlIHNhbXBsZSBub25jZQ=="))
        #expect(key.accept == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }

    @Test func `new WebSocket keys have 16 bytes and are all different`() {
        var generator = SeededGenerator(seed: 1)
        let keys = (0..<100).map { _ in WebSocketKey(using: &generator).text }
        #expect(keys.allSatisfy { WebSocketKey($0) != nil })
        #expect(Set(keys).count == 100)
    }

    @Test func `a valid response is accepted in pieces of any size`() throws {
        let key = try #require(WebSocketKey("dGhlIHNhbXBsZSBub25jZQ=="))
        let answer = Array(
            ("HTTP/1.1 101 Web Socket Protocol Handshake\r\nupgrade:WebSocket\r\nCONNECTION: keep-alive, Upgrade\r\n"
                + "sec-websocket-accept: \t s3pPLMBiTxaQ9kYGzzhZRbK+xOo= \r\nSec-WebSocket-Protocol: mqtt\r\nServer: x\r\n"
                + "\r\nrest").utf8)
        for size in 1...answer.count {
            var handshake = WebSocketClientHandshake(
                WebSocketConfiguration(), host: "h", peerName: "h", key: key)
            var rest = answer[...]
            var isDone = false
            while !isDone, !rest.isEmpty {
                let piece = Array(rest.prefix(size))
                let (taken, done) = try piece.withUnsafeBytes { try handshake.received($0) }
                rest = rest.dropFirst(taken)
                isDone = done
            }
            #expect(isDone)
            #expect(Array(rest) == Array("rest".utf8))
        }
    }

    /// Interim responses are defined in RFC 9110, section 15.2.
    @Test func `interim HTTP responses before the final response are skipped`() throws {
        let key = try #require(WebSocketKey("dGhlIHNhbXBsZSBub25jZQ=="))
        let interim = "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
        let real =
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: \(key.accept)\r\nSec-WebSocket-Protocol: mqtt\r\n\r\n"
        let answer = Array((interim + real).utf8)
        var whole = WebSocketClientHandshake(WebSocketConfiguration(), host: "h", peerName: "h", key: key)
        let (taken, isDone) = try (answer + [1, 2]).withUnsafeBytes { try whole.received($0) }
        #expect(isDone && taken == answer.count)
        var piecewise = WebSocketClientHandshake(WebSocketConfiguration(), host: "h", peerName: "h", key: key)
        for (index, byte) in answer.enumerated() {
            let (taken, isDone) = try [byte].withUnsafeBytes { try piecewise.received($0) }
            #expect(taken == 1 && isDone == (index == answer.count - 1))
        }
    }

    // MARK: Configuration

    @Test(arguments: [
        (WebSocketConfiguration(path: ""), "slash"), (WebSocketConfiguration(path: "mqtt"), "slash"),
        (WebSocketConfiguration(path: "/a b"), "percent-encoded"),
        (WebSocketConfiguration(path: "/\u{E4}"), "percent-encoded"),
        (WebSocketConfiguration(path: "/a#b"), "fragment"), (WebSocketConfiguration(path: "/a\r\nX: y"), "slash"),
        (WebSocketConfiguration(headers: ["Host": "s3cret"]), "“Host” belongs to the handshake"),
        (WebSocketConfiguration(headers: ["sec-websocket-key": "s3cret"]), "belongs to the handshake"),
        (WebSocketConfiguration(headers: ["A": "s3cret", "a": "s3cret"]), "twice"),
        (WebSocketConfiguration(headers: ["A b": "s3cret"]), "name of a header field"),
        (WebSocketConfiguration(headers: ["": "s3cret"]), "name of a header field"),
        (WebSocketConfiguration(headers: ["A": "s3cret\r\nX: y"]), "control character"),
        (WebSocketConfiguration(headers: ["A": "s3cret\u{0}"]), "control character"),
        (WebSocketConfiguration(headers: ["A": String(repeating: "s3cret", count: 3_000)]), "18010 bytes"),
        (
            WebSocketConfiguration(headers: Dictionary(uniqueKeysWithValues: (0..<65).map { ("A\($0)", "s3cret") })),
            "65 header fields"
        ),
        (WebSocketConfiguration(host: "a/b"), "Host"), (WebSocketConfiguration(host: ""), "Host"),
    ])
    func `the error for an invalid configuration names the problem, but no header value`(
        _ configuration: WebSocketConfiguration, _ words: String
    ) throws {
        let error = #expect(throws: TransportError.self) { try configuration.check() }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("s3cret") == false)
    }

    @Test func `printing or dumping a configuration shows no header value and no query`() {
        let configuration = WebSocketConfiguration(path: "/a?k=s3cret", headers: ["Authorization": "s3cret"])
        var dumped = ""
        dump(configuration, to: &dumped)
        var options = ChannelOptions()
        options.webSocket = configuration
        dump(options, to: &dumped)
        for text in ["\(configuration)", "\(options)", String(reflecting: configuration), dumped] {
            #expect(!text.contains("s3cret"))
        }
        #expect("\(configuration)".contains("Authorization"))
    }

    // MARK: Server

    private func verdict(_ request: String) throws -> WebSocketServerHandshake.Verdict {
        var handshake = WebSocketServerHandshake(WebSocketConfiguration(), peerName: "client")
        return try #require(Array(request.utf8).withUnsafeBytes { handshake.received($0) }.verdict)
    }

    @Test func `the server answers a valid request with the expected headers`() throws {
        let verdict = try verdict(WebSocketServerSide.request)
        #expect(verdict.refusal == nil)
        #expect(verdict.answer.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"))
        #expect(verdict.answer.hasSuffix("Sec-WebSocket-Protocol: mqtt\r\n\r\n"))
    }

    @Test(arguments: [
        ("GET /mqtt", "POST /mqtt", "400"), ("GET /mqtt", "GET mqtt", "400"), ("HTTP/1.1", "HTTP/1.0", "400"),
        ("Host: h\r\n", "", "400"), ("Host: h", "Host: h\r\nHost: i", "400"), ("Upgrade: websocket\r\n", "", "426"),
        ("Connection: Upgrade", "Connection: close", "426"), ("Version: 13", "Version: 8", "426"),
        ("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZQ==", "400"), ("dGhlIHNhbXBsZSBub25jZQ==", "", "400"),
        ("Protocol: mqtt", "Protocol: chat", "400"), ("Sec-WebSocket-Protocol: mqtt\r\n", "", "400"),
        ("Host: h", "Host: " + String(repeating: "h", count: 17_000), "400"),
    ])
    func `the server refuses an invalid request with the matching HTTP status`(
        _ old: String, _ new: String, _ status: String
    ) throws {
        let request = WebSocketServerSide.request.split(separator: old, maxSplits: 1, omittingEmptySubsequences: false)
            .joined(separator: new)
        #expect(request != WebSocketServerSide.request)
        let verdict = try verdict(request)
        #expect(verdict.answer.hasPrefix("HTTP/1.1 \(status) "))
        #expect(verdict.refusal?.code == .webSocketHandshakeFailed)
    }
}
