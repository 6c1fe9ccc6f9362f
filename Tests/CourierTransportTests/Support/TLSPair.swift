@testable import CourierTransport

/// The two sides of a TLS connection without a channel. Tests move the bytes between them.
struct TLSPair {
    /// The key under which the client's context caches this connection's session.
    static let cacheKey = "localhost peer"

    struct Endless: Error {}

    let client: TLSSession
    let server: TLSSession

    init(client: TLSContext, server: TLSContext) throws {
        self.client = try client.makeSession(hostName: "localhost", peerName: "peer")
        self.server = try server.makeSession(hostName: nil, peerName: "client")
    }

    /// Runs both handshakes until they are done. Returns the server's bytes after them, which the client has not
    /// received.
    @discardableResult
    func shakeHands() throws -> [UInt8] {
        var isClientDone = false
        var isServerDone = false
        for _ in 0..<10 {
            if !isClientDone { isClientDone = try client.advance() == .done }
            server.lend(client.takeOutput())
            if !isServerDone { isServerDone = try server.advance() == .done }
            if isClientDone && isServerDone { return server.takeOutput() }
            client.lend(server.takeOutput())
        }
        throw Endless()
    }
}

extension TLSSession {
    /// Passes received, encrypted bytes to the session.
    func lend(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes {
            borrowInput($0)
            keepInput()
        }
    }

    /// Removes and returns the encrypted bytes that must be sent.
    func takeOutput() -> [UInt8] {
        let bytes = Array(output)
        removeOutput(bytes.count)
        return bytes
    }

    /// Decrypts and returns all bytes that can be decrypted now.
    func readAll() throws -> [UInt8] {
        var bytes: [UInt8] = []
        var space = [UInt8](repeating: 0, count: 1_000)
        while case .bytes(let count) = try space.withUnsafeMutableBytes({ try read(into: $0) }) {
            bytes += space.prefix(count)
        }
        return bytes
    }

    /// Encrypts `bytes`, or a part of them. Returns the number of encrypted bytes.
    func write(_ bytes: [UInt8]) throws -> Int { try bytes.withUnsafeBytes { try write($0) } }
}

extension [UInt8] {
    /// The first TLS record of encrypted bytes, and the bytes after it.
    var firstRecord: (record: [UInt8], rest: [UInt8]) {
        guard count > 5 else { return (self, []) }
        let end = Swift.min(count, 5 + (Int(self[3]) << 8 | Int(self[4])))
        return (Array(self[..<end]), Array(self[end...]))
    }
}
