import TestSupport
import Testing

@testable import CourierTransport

/// The errors that a client reports for servers that break the protocol, over real sockets.
@Suite struct MisbehavingServerTests {
    struct Server: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let then: RawServer.Then
        let answer: @Sendable (_ request: [UInt8]) -> [UInt8]
        let code: TransportError.Code
        let words: [String]
    }

    private static func server(
        _ name: String, _ answer: String, then: RawServer.Then = .stays, _ code: TransportError.Code, _ words: String...
    ) -> Server {
        Server(testDescription: name, then: then, answer: { _ in Array(answer.utf8) }, code: code, words: words)
    }

    /// A server whose answer has one wrong header line: the line of `field` is replaced by `new`, or removed if `new`
    /// is `nil`.
    private static func changing(
        _ name: String, _ field: String, to new: String?, _ code: TransportError.Code = .webSocketHandshakeFailed,
        _ words: String...
    ) -> Server {
        Server(
            testDescription: name, then: .stays,
            answer: { request in
                let lines = WebSocketServerSide.answer(to: request).split(
                    separator: "\r\n", omittingEmptySubsequences: false)
                let changed = lines.flatMap { line -> [String] in
                    line.hasPrefix(field) ? (new.map { [$0] } ?? []) : [String(line)]
                }
                return Array(changed.joined(separator: "\r\n").utf8)
            }, code: code, words: words)
    }

    /// A server that answers the handshake correctly and then sends `frames`.
    private static func after(
        _ name: String, _ frames: [UInt8], then: RawServer.Then = .stays, _ code: TransportError.Code,
        _ words: String...
    ) -> Server {
        Server(
            testDescription: name, then: then, answer: { Array(WebSocketServerSide.answer(to: $0).utf8) + frames },
            code: code, words: words)
    }

    static let statuses: [Server] = [
        server("200", "HTTP/1.1 200 OK\r\n\r\n", .webSocketRefused, "200 OK", "“/mqtt”"),
        server(
            "301", "HTTP/1.1 301 Moved\r\nLocation: https://a.example/b?token=s3cret\r\n\r\n", .webSocketRedirected,
            "301 Moved Permanently", "to “https://a.example/b”", "not followed"),
        server("302 without a target", "HTTP/1.1 302 Found\r\n\r\n", .webSocketRedirected, "302 Found", "elsewhere"),
        server(
            "307 that repeats our secret", "HTTP/1.1 307 x\r\nLocation: /s3cret\r\n\r\n", .webSocketRedirected,
            "<hidden>"),
        server(
            "307 that repeats it in another spelling", "HTTP/1.1 307 x\r\nLocation: /s3%63ret\r\n\r\n",
            .webSocketRedirected, "<hidden>"),
        server(
            "302 that repeats a value of our cookie", "HTTP/1.1 302 x\r\nLocation: /login;sid=c00kie-value\r\n\r\n",
            .webSocketRedirected, "<hidden>"),
        server("308", "HTTP/1.1 308 x\r\nLocation: wss://a/\r\n\r\n", .webSocketRedirected, "“wss://a/”"),
        server("400 without a phrase", "HTTP/1.1 400\r\n\r\n", .webSocketRefused, "400 Bad Request"),
        server("401", "HTTP/1.1 401 No\r\n\r\n", .webSocketUnauthorized, "401 Unauthorized", "credentials"),
        server("403", "HTTP/1.1 403 s3cret\r\n\r\n", .webSocketUnauthorized, "403 Forbidden", "credentials"),
        server("404", "HTTP/1.1 404 Not Found\r\n\r\n", .webSocketRefused, "404 Not Found", "no WebSocket at “/mqtt”"),
        server(
            "426", "HTTP/1.1 426 x\r\nSec-WebSocket-Version: 8\r\n\r\n", .webSocketRefused, "426 Upgrade Required",
            "version “8”", "version 13"),
        server("429", "HTTP/1.1 429 x\r\nRetry-After: 7\r\n\r\n", .webSocketRefused, "429 Too Many", "field is “7”"),
        server("500", "HTTP/1.0 500 x\r\n\r\n", .webSocketRefused, "500 Internal Server Error"),
        server("503", "HTTP/1.1 503 x\r\n\r\n", then: .closes, .webSocketRefused, "503 Service Unavailable"),
        server("a status of its own", "HTTP/1.1 599 x\r\n\r\n", .webSocketRefused, "answered 599"),
        server(
            "100 and no more", "HTTP/1.1 100 Continue\r\n\r\n", then: .closes, .webSocketHandshakeFailed,
            "before it answered"),
        server(
            "nine times 103", String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", count: 9),
            .webSocketHandshakeFailed, "8 interim responses"),
        server("403 behind 103", "HTTP/1.1 103 x\r\n\r\nHTTP/1.1 403 x\r\n\r\n", .webSocketUnauthorized, "403"),
    ]

    static let answers: [Server] = [
        server(
            "nothing, and closes", "", then: .closes, .webSocketHandshakeFailed, "before it answered",
            "does this port speak WebSocket?"),
        server(
            "nothing, and resets", "", then: .resets, .webSocketHandshakeFailed, "connection reset by",
            "does this port speak WebSocket?"),
        server("half an answer", "HTTP/1.1 101 Swi", then: .closes, .webSocketHandshakeFailed, "before it answered"),
        server("MQTT", "\u{20}\u{02}\u{00}\u{00}", .webSocketHandshakeFailed, "not HTTP/1.1"),
        server("SSH", "SSH-2.0-OpenSSH_9.2\r\n", .webSocketHandshakeFailed, "not HTTP/1.1"),
        server("HTTP/2", "HTTP/2 101\r\n\r\n", .webSocketHandshakeFailed, "not HTTP/1.1"),
        server("HTTP/0.9", "<html>\r\n\r\n", .webSocketHandshakeFailed, "not HTTP/1.1"),
        server("a status of four digits", "HTTP/1.1 1011 x\r\n\r\n", .webSocketHandshakeFailed, "not HTTP/1.1"),
        server("a status of letters", "HTTP/1.1 abc\r\n\r\n", .webSocketHandshakeFailed, "not HTTP/1.1"),
        changing("101 in HTTP/1.0", "HTTP/1.1", to: "HTTP/1.0 101 x", .webSocketHandshakeFailed, "HTTP/1.0"),
        changing("no Upgrade", "Upgrade", to: nil, .webSocketHandshakeFailed, "Upgrade field"),
        changing("Upgrade to h2c", "Upgrade", to: "Upgrade: h2c", .webSocketHandshakeFailed, "Upgrade field"),
        changing("two Upgrades", "Upgrade", to: "Upgrade: websocket, h2c"),
        changing("no Connection", "Connection", to: nil, .webSocketHandshakeFailed, "Connection field"),
        changing("Connection: close", "Connection", to: "Connection: close"),
        changing("no accept key", "Sec-WebSocket-Accept", to: nil, .webSocketHandshakeFailed, "match the key"),
        changing(
            "another accept key", "Sec-WebSocket-Accept", to: "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
            .webSocketHandshakeFailed, "match the key"),
        changing(
            "an extension", "Connection", to: "Connection: Upgrade\r\nSec-WebSocket-Extensions: permessage-deflate",
            .webSocketHandshakeFailed, "extension “permessage-deflate”"),
        changing(
            "no subprotocol", "Sec-WebSocket-Protocol", to: nil, .webSocketSubprotocolRefused,
            "did not choose this subprotocol"),
        changing(
            "another subprotocol", "Sec-WebSocket-Protocol", to: "Sec-WebSocket-Protocol: mqttv3.1",
            .webSocketSubprotocolRefused, "“mqttv3.1”"),
        changing(
            "two subprotocols", "Sec-WebSocket-Protocol",
            to: "Sec-WebSocket-Protocol: mqtt\r\nSec-WebSocket-Protocol: mqtt", .webSocketSubprotocolRefused),
        changing(
            "a subprotocol in capitals", "Sec-WebSocket-Protocol", to: "Sec-WebSocket-Protocol: MQTT",
            .webSocketSubprotocolRefused),
        changing("a folded field", "Connection", to: "Connection:\r\n Upgrade", .webSocketHandshakeFailed, "head"),
        changing("a blank before the colon", "Upgrade", to: "Upgrade : websocket", .webSocketHandshakeFailed, "name"),
        changing("a field without a name", "Upgrade", to: ": websocket", .webSocketHandshakeFailed, "name"),
        changing("a line without a colon", "Upgrade", to: "websocket", .webSocketHandshakeFailed, "colon"),
        changing("a lone LF", "Upgrade", to: "Upgrade: websocket\nX: y", .webSocketHandshakeFailed, "stray"),
        changing("a lone CR", "Upgrade", to: "Upgrade: websocket\rX: y", .webSocketHandshakeFailed, "stray"),
        changing("a NUL", "Upgrade", to: "Upgrade: websocket\u{0}", .webSocketHandshakeFailed, "stray"),
        changing(
            "101 fields", "Upgrade", to: "Upgrade: websocket" + String(repeating: "\r\nA: b", count: 100),
            .webSocketHandshakeFailed, "100 fields"),
        changing(
            "a long field", "Upgrade", to: "Upgrade: websocket\r\nA: " + String(repeating: "b", count: 17_000),
            .webSocketHandshakeFailed, "16384 bytes"),
        server(
            "a head that does not end", "HTTP/1.1 101 x" + String(repeating: "\r\nA: b", count: 5_000),
            .webSocketHandshakeFailed, "16384 bytes"),
        Server(
            testDescription: "bytes that are not UTF-8", then: .stays,
            answer: { _ in Array("HTTP/1.1 101 ".utf8) + [0xFF] + Array("\r\n\r\n".utf8) },
            code: .webSocketHandshakeFailed,
            words: ["UTF-8"]),
    ]

    static let later: [Server] = [
        after("text", RawFrame.text("hello"), .webSocketViolation, "sent text", "1003"),
        after("text that is not UTF-8", RawFrame.text([0xFF]), .webSocketViolation, "not UTF-8", "1007"),
        after("a masked frame", RawFrame(mask: [1, 2, 3, 4]).bytes, .webSocketViolation, "masked a frame", "1002"),
        after("a reserved bit", RawFrame(reserved: 4).bytes, .webSocketViolation, "reserved bit", "1002"),
        after("a message too big", RawFrame(claimedLength: 1 << 40).bytes, .webSocketViolation, "536870912", "1009"),
        after("a frame cut off", [0x82, 10, 1], then: .closes, .truncated, "in the middle of a WebSocket message"),
        after(
            "a message cut off", RawFrame.binary([1], isFinal: false), then: .closes, .truncated, "bytes may be missing"
        ),
        after(
            "a Close for a policy", RawFrame.close(1008, Array("too old".utf8)), .webSocketClosed,
            "1008 (policy violation): “too old”"),
        after("a Close for a status of its own", RawFrame.close(4001), .webSocketClosed, "with 4001"),
        after("nonsense", Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), .webSocketViolation),
        after("a reset", [], then: .resets, .reset),
        after("a Close for a policy, and a reset", RawFrame.close(1008), then: .resets, .webSocketClosed, "1008"),
        after("text, and a reset", RawFrame.text("hello"), then: .resets, .webSocketViolation, "1003"),
        after(
            "a Close that repeats our secret", RawFrame.close(1008, Array("s3cret is too old".utf8)), .webSocketClosed,
            "<hidden>"),
        after(
            "a Close that repeats what our query says", RawFrame.close(1008, Array("no k3y-in-query".utf8)),
            .webSocketClosed, "<hidden>"),
        after(
            "a Close that repeats it decoded", RawFrame.close(1008, Array("token in/query expired".utf8)),
            .webSocketClosed, "<hidden>"),
    ]

    @Test(arguments: statuses + answers + later)
    func `the error for a misbehaving WebSocket server names the mistake and shows no secret`(
        _ server: Server
    ) async throws {
        try await withLoop { loop in
            let listener = try ChannelListener.listen(loop: loop) { _ in
                RawServer(then: server.then, answer: server.answer)
            }
            var options = ChannelOptions()
            options.webSocket = WebSocketConfiguration(
                path: "/mqtt?key=k3y-in-query&token=in%2Fquery",
                headers: [
                    "Authorization": "Bearer s3cret", "Cookie": "session=c00kie-value; theme=dark",
                    "Origin": "https://app.example",
                ])
            options.lingerTimeout = .milliseconds(50)
            let recorder = Recorder()
            ByteChannel.connect(to: listener.endpoint, options: options, on: loop, handler: recorder)
            let error = try await recorder.failure()
            #expect(error.code == server.code, "\(error)")
            #expect(error.message.contains("127.0.0.1:\(listener.port)"), "\(error)")
            for word in server.words { #expect(error.message.contains(word), "\(error)") }
            for secret in ["s3cret", "k3y", "in/query", "c00kie"] {
                #expect(!error.message.contains(secret), "\(error)")
            }
        }
    }

    /// 300 bytes, more than fit into a Close frame.
    static let longToken = (0..<50).map { "s\(10_000 + $0 * 97)" }.joined()

    @Test(
        arguments: [
            (String(longToken.prefix(100)), "<hidden>"),
            ("bad token …\(longToken.dropFirst(150).prefix(8))", "<hidden>"),
            ("the bearer of this token is not known", "“the bearer of this token is not known”"),
        ])
    func `the error hides the reason of a Close frame only if the reason contains a part of the token`(
        _ reason: String, _ shown: String
    ) async throws {
        try await withLoop { loop in
            let listener = try ChannelListener.listen(loop: loop) { _ in
                RawServer(sending: RawFrame.close(1008, Array(reason.utf8)))
            }
            var options = ChannelOptions()
            options.webSocket = WebSocketConfiguration(headers: ["Authorization": "Bearer \(Self.longToken)"])
            options.lingerTimeout = .milliseconds(50)
            let recorder = Recorder()
            ByteChannel.connect(to: listener.endpoint, options: options, on: loop, handler: recorder)
            let error = try await recorder.failure()
            #expect(error.code == .webSocketClosed)
            #expect(error.message.hasSuffix(": \(shown)"), "\(error)")
        }
    }

    @Test func `a server that sends text receives a Close frame with status 1003`() async throws {
        try await withLoop { loop in
            let server = RawServer(sending: RawFrame.text("hello"))
            let listener = try ChannelListener.listen(loop: loop) { _ in server }
            var options = ChannelOptions()
            options.webSocket = WebSocketConfiguration()
            let recorder = Recorder()
            ByteChannel.connect(to: listener.endpoint, options: options, on: loop, handler: recorder)
            try await server.frames.wait("a Close frame") { bytes in
                guard let last = try? RawServer.read(bytes).last, last.opcode == 8 else { return false }
                return last.payload.starts(with: [0x03, 0xEB])
            }
            let raw = try #require(server.opened.value)
            await raw.onLoop { $0.close() }
            let error = try await recorder.failure()
            #expect(error.code == .webSocketViolation)
        }
    }

    @Test(arguments: [nil, 1000, 1001])
    func `if a Close frame has no error status, the end is reported as closedByPeer`(_ status: Int?) async throws {
        try await withLoop { loop in
            let listener = try ChannelListener.listen(loop: loop) { _ in
                RawServer(sending: RawFrame.binary([1]) + RawFrame.close(status))
            }
            var options = ChannelOptions()
            options.webSocket = WebSocketConfiguration()
            options.lingerTimeout = .milliseconds(50)
            let recorder = Recorder()
            ByteChannel.connect(to: listener.endpoint, options: options, on: loop, handler: recorder)
            #expect(try await recorder.end() == .closedByPeer)
            #expect(recorder.log.value.bytes == [1])
            #expect(recorder.log.value.inputClosed == 1)
        }
    }

    @Test func `a connection that ends between messages without a Close frame is reported as closedByPeer`()
        async throws
    {
        try await withLoop { loop in
            let listener = try ChannelListener.listen(loop: loop) { _ in
                RawServer(then: .closes, sending: RawFrame.binary([1]))
            }
            var options = ChannelOptions()
            options.webSocket = WebSocketConfiguration()
            let recorder = Recorder()
            ByteChannel.connect(to: listener.endpoint, options: options, on: loop, handler: recorder)
            #expect(try await recorder.end() == .closedByPeer)
            #expect(recorder.log.value.bytes == [1])
        }
    }
}
