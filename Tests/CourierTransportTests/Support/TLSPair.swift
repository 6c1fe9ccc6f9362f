import Testing

@testable import CourierTransport

/// The two sides of a TLS connection without a channel, driven by hand.
struct TLSPair {
    /// Under which name the client's context keeps a session of this connection.
    static let cacheKey = "localhost peer"

    let client: TLSSession
    let server: TLSSession

    init(client: TLSContext, server: TLSContext) throws {
        self.client = try client.makeSession(hostName: "localhost", peerName: "peer")
        self.server = try server.makeSession(hostName: nil, peerName: "client")
    }

    /// Goes on with both handshakes until they are done. What the server says behind its own has not been read then.
    func shakeHands() throws {
        var isClientDone = false
        var isServerDone = false
        for _ in 0..<10 where !(isClientDone && isServerDone) {
            if !isClientDone { isClientDone = try client.advance() == .done }
            server.lend(client.takeOutput())
            if !isServerDone { isServerDone = try server.advance() == .done }
            client.lend(server.takeOutput())
        }
        try #require(isClientDone && isServerDone, "the handshake does not end")
    }
}

extension TLSSession {
    /// Gives it encrypted bytes that have come.
    func lend(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes {
            borrowInput($0)
            keepInput()
        }
    }

    /// The encrypted bytes that are to be sent.
    func takeOutput() -> [UInt8] {
        let bytes = Array(output)
        removeOutput(bytes.count)
        return bytes
    }
}
