import Testing

@testable import CourierTransport

/// A test case: the bytes that a peer sends after the handshake, and the expected outcome.
struct WebSocketCase: Sendable, CustomTestStringConvertible {
    /// The state of the WebSocket after the case.
    enum End: Hashable, Sendable {
        /// The WebSocket is still open.
        case open
        /// The peer closed the WebSocket, with or without a status. The answer has the same status.
        case closed(Int?)
        /// The WebSocket was closed because of the peer's mistake. The Close frame has this status.
        case refused(Int)
    }

    /// The results of a case that are visible from outside.
    struct Outcome: Hashable, Sendable {
        var delivered: [UInt8] = []
        var pongs: [[UInt8]] = []
        var end = End.open
    }

    let section: String
    let name: String
    let sent: [UInt8]
    let expected: Outcome
    let role: WebSocketRole

    var testDescription: String { "\(section): \(name)" }

    init(
        _ section: String, _ name: String, _ sent: [UInt8], delivers: [UInt8] = [], pongs: [[UInt8]] = [],
        _ end: End = .open, role: WebSocketRole = .client
    ) {
        self.section = section
        self.name = name
        self.sent = sent
        expected = Outcome(delivered: delivers, pongs: pongs, end: end)
        self.role = role
    }

    /// The largest allowed number of bytes in a message in these cases.
    static let messageLimit = 100_000

    /// The expected outcome, as text.
    var verdict: String {
        var words: [String] = []
        if !expected.delivered.isEmpty { words.append("\(expected.delivered.count) bytes delivered") }
        if !expected.pongs.isEmpty {
            words.append(expected.pongs.count == 1 ? "1 Ping answered" : "\(expected.pongs.count) Pings answered")
        }
        switch expected.end {
        case .open: words.append("goes on")
        case .closed(nil): words.append("closes in order, without a status")
        case .closed(let status?): words.append("closes in order, with \(status)")
        case .refused(let status): words.append("refused with \(status)")
        }
        return words.joined(separator: ", ")
    }
}

extension WebSocketCase {
    /// Returns the outcome when the bytes arrive in these pieces.
    func outcome(in pieces: [[UInt8]]) throws -> Outcome {
        var generator: any RandomNumberGenerator = SystemRandomNumberGenerator()
        var configuration = WebSocketConfiguration()
        configuration.messageLimit = Self.messageLimit
        let session: WebSocketSession
        switch role {
        case .client:
            session = try WebSocketSession(
                connecting: configuration, host: "h", peerName: "server", using: &generator)
            let request = session.takeOutput()
            let answer = WebSocketServerSide.answer(to: request)
            #expect(try session.advance(answer))
        case .server:
            session = try WebSocketSession(accepting: configuration, peerName: "client", using: &generator)
            #expect(try session.advance(WebSocketServerSide.request))
            _ = session.takeOutput()
        }
        var outcome = Outcome()
        for piece in pieces {
            var bytes = piece
            outcome.delivered += bytes.withUnsafeMutableBytes { space in Array(space[session.unwrap(space)]) }
        }
        var nothing = ByteQueue()
        session.wrap(&nothing, limit: .max)
        if let end = session.end {
            #expect(session.beginClose())
            switch end {
            case .closed(let status, _): outcome.end = .closed(status.map { Int($0.rawValue) })
            case .violated(let violation): outcome.end = .refused(Int(violation.status.rawValue))
            }
        }
        try readAnswers(session.takeOutput(), &outcome)
        return outcome
    }

    /// Parses the session's output as the other side would.
    private func readAnswers(_ bytes: [UInt8], _ outcome: inout Outcome) throws {
        var reader = WebSocketFrameReader(role: role == .client ? .server : .client, limits: .init(message: .max))
        var bytes = bytes
        var offset = 0
        var closed: Int?
        var hasClosed = false
        try bytes.withUnsafeMutableBytes { space in
            while let event = try reader.next(in: space, at: &offset) {
                switch event {
                case .pong: outcome.pongs.append(reader.control)
                case .close(let status, _):
                    hasClosed = true
                    closed = status.map { Int($0.rawValue) }
                case .payload, .ping: Issue.record("we sent \(event)")
                }
            }
        }
        switch outcome.end {
        case .open: #expect(!hasClosed)
        case .closed(let status): #expect(hasClosed && closed == status)
        case .refused(let status): #expect(hasClosed && closed == status)
        }
    }
}

extension WebSocketSession {
    /// Removes and returns the bytes that wait to be sent.
    func takeOutput() -> [UInt8] {
        let bytes = Array(output)
        removeOutput(bytes.count)
        return bytes
    }

    func advance(_ text: String) throws -> Bool { try Array(text.utf8).withUnsafeBytes { try advance($0) } }
}

/// A minimal server's side of the handshake.
enum WebSocketServerSide {
    static let request =
        "GET /mqtt HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        + "Sec-WebSocket-Protocol: mqtt\r\n\r\n"

    /// Returns the key in a client's request.
    static func key(in request: [UInt8]) -> WebSocketKey? {
        String(decoding: request, as: UTF8.self).split(separator: "\r\n")
            .first { $0.hasPrefix("Sec-WebSocket-Key: ") }
            .flatMap { WebSocketKey(String($0.dropFirst("Sec-WebSocket-Key: ".count))) }
    }

    /// Returns the correct answer to a client's request.
    static func answer(to request: [UInt8]) -> String {
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: \(key(in: request)?.accept ?? "")\r\nSec-WebSocket-Protocol: mqtt\r\n\r\n"
    }
}
