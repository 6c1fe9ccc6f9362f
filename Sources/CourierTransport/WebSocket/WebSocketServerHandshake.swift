/// The server side of the opening handshake (RFC 6455, section 4.2). It checks a request and makes the response.
struct WebSocketServerHandshake: Sendable {
    /// The response to a request, and whether the request was refused.
    struct Verdict: Sendable {
        let answer: String
        /// The reason why the request was refused; `nil` if it was accepted.
        let refusal: TransportError?
    }

    private let subprotocol: String
    private let peerName: String
    private var reader: HTTPHeadReader

    init(_ configuration: WebSocketConfiguration, peerName: String) {
        subprotocol = configuration.subprotocol
        self.peerName = peerName
        reader = HTTPHeadReader(
            beginning: "GET ", limit: configuration.headLimit, fieldLimit: configuration.headFieldLimit)
    }

    /// Processes bytes of the request. Returns how many bytes it used, and the verdict when the request is complete or
    /// invalid.
    mutating func received(_ bytes: UnsafeRawBufferPointer) -> (taken: Int, verdict: Verdict?) {
        do throws(HTTPHead.Problem) {
            let (taken, head) = try reader.read(bytes)
            return (taken, head.map(verdict))
        } catch {
            return (bytes.count, refuse("400 Bad Request", "the request is too large, or is not an HTTP/1.1 request"))
        }
    }

    private func verdict(_ head: HTTPHead) -> Verdict {
        let line = head.startLine.split(separator: " ", omittingEmptySubsequences: false)
        guard line.count == 3, line[0] == "GET", line[1].hasPrefix("/"), line[2] == "HTTP/1.1",
            head.values("host").count == 1
        else { return refuse("400 Bad Request", "the request is not an HTTP/1.1 GET request for a path") }
        guard head.elements("upgrade").contains(where: { $0.lowercased() == "websocket" }),
            head.elements("connection").contains(where: { $0.lowercased() == "upgrade" })
        else {
            return refuse("426 Upgrade Required", "the request does not ask for a WebSocket", "Upgrade: websocket\r\n")
        }
        guard head.values("sec-websocket-version") == ["13"] else {
            return refuse(
                "426 Upgrade Required", "the WebSocket version of the request is not 13",
                "Sec-WebSocket-Version: 13\r\n")
        }
        let keys = head.values("sec-websocket-key")
        guard keys.count == 1, let key = WebSocketKey(keys[0]) else {
            return refuse("400 Bad Request", "the Sec-WebSocket-Key of the request is not 16 bytes in base64")
        }
        guard head.elements("sec-websocket-protocol").contains(where: { $0 == subprotocol }) else {
            return refuse("400 Bad Request", "the request does not offer the subprotocol “\(subprotocol)”")
        }
        return Verdict(
            answer: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Accept: \(key.accept)\r\nSec-WebSocket-Protocol: \(subprotocol)\r\n\r\n",
            refusal: nil)
    }

    private func refuse(_ status: String, _ why: String, _ fields: String = "") -> Verdict {
        Verdict(
            answer: "HTTP/1.1 \(status)\r\n\(fields)Connection: close\r\nContent-Length: 0\r\n\r\n",
            refusal: TransportError(
                .webSocketHandshakeFailed, "the request of \(peerName) for a WebSocket was refused: \(why)"))
    }
}
