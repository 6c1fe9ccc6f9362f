import CourierTransport
import Foundation

/// One connection of the token service. It implements the part of HTTP that one address needs, on the channels that
/// also carry MQTT.
///
/// Safe to share: it has no mutable state.
final class TokenDesk: ChannelHandler {
    /// The maximum size of a request in bytes.
    private static let requestLimit = 8 << 10

    /// The time after which a connection is closed, for example because its request is incomplete.
    private static let patience = Duration.seconds(10)

    private let channel: ByteChannel
    private let office: TokenOffice
    private let brokerPort: UInt16
    private let tell: @Sendable (String) -> Void

    init(
        _ channel: ByteChannel, _ office: TokenOffice, brokerPort: UInt16, tell: @escaping @Sendable (String) -> Void
    ) {
        self.channel = channel
        self.office = office
        self.brokerPort = brokerPort
        self.tell = tell
    }

    func opened(_ channel: ByteChannel) {
        channel.loop.schedule(at: .now + Self.patience) { channel.abort() }
    }

    func received(_ bytes: RawSpan) -> Int {
        let text = bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        if let end = text.range(of: "\r\n\r\n") {
            answer(text[..<end.lowerBound].components(separatedBy: "\r\n"))
        } else if bytes.byteCount <= Self.requestLimit {
            return 0  // The request is not complete yet.
        } else {
            send("431 Request Header Fields Too Large")
        }
        return bytes.byteCount
    }

    func closed(_ reason: ChannelCloseReason) {}

    private func answer(_ lines: [String]) {
        let request = lines[0].split(separator: " ")
        guard request.count == 3, request[1] == "/token" else { return send("404 Not Found") }
        guard request[0] == "GET" else { return send("405 Method Not Allowed", "Allow: GET") }
        let (name, secret) = lines.compactMap(Self.credentials).first ?? ("", "")
        guard let token = office.token(for: name, secret: secret) else {
            tell("responds with 401, because the secret is wrong")
            return send("401 Unauthorized", "WWW-Authenticate: Basic realm=\"chat\"")
        }
        let life = office.lifetime / .seconds(1)
        tell("\(name) gets a token for \(life) s")
        send(
            "200 OK", "Content-Type: application/json",
            body: #"{"host": "127.0.0.1", "port": \#(brokerPort), "token": "\#(token)", "expires_in": \#(life)}"#)
    }

    /// Returns the name and the secret if the line is `Authorization: Basic …`, otherwise `nil`.
    private static func credentials(_ line: String) -> (name: String, secret: String)? {
        let words = line.split(separator: " ")
        guard words.count == 3, words[0].lowercased() == "authorization:", words[1].lowercased() == "basic" else {
            return nil
        }
        let data = Data(base64Encoded: String(words[2])) ?? Data()
        let parts = String(decoding: data, as: UTF8.self).split(separator: ":", maxSplits: 1).map(String.init)
        return parts.count == 2 ? (parts[0], parts[1]) : nil
    }

    private func send(_ status: String, _ fields: String..., body: String = "") {
        let head = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)", "Cache-Control: no-store"] + fields
        let answer = Array((head + ["Connection: close", "", body]).joined(separator: "\r\n").utf8)
        channel.write(answer.span.bytes)
        channel.close()
    }
}
