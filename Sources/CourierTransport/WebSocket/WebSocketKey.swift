import COpenSSL

/// The random key of a handshake. The server's response to this key proves that the server supports WebSocket (RFC
/// 6455, section 4.2.2).
struct WebSocketKey: Hashable, Sendable {
    /// The 16 bytes of the key in base64.
    let text: String

    /// Makes a new random key.
    init(using generator: inout some RandomNumberGenerator) {
        var bytes: [UInt8] = []
        for _ in 0..<2 { withUnsafeBytes(of: generator.next()) { bytes += $0 } }
        text = Base64.text(bytes)
    }

    /// Reads a key that a client sent. Returns `nil` if the text is not 16 bytes in base64.
    init?(_ text: String) {
        guard text.utf8.count == 24, text.hasSuffix("=="),
            text.utf8.dropLast(2).allSatisfy({ byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                    true
                default: false
                }
            })
        else { return nil }
        self.text = text
    }

    /// The value that the server must send as `Sec-WebSocket-Accept`.
    var accept: String {
        let bytes = Array((text + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var digest = [UInt8](repeating: 0, count: Int(SHA_DIGEST_LENGTH))
        SHA1(bytes, bytes.count, &digest)
        return Base64.text(digest)
    }
}
