@testable import CourierTransport

/// The two sides of a TLS connection without a channel, driven by hand.
struct TLSPair {
    /// Under which name the client's context keeps a session of this connection.
    static let cacheKey = "localhost peer"

    struct Endless: Error {}

    let client: TLSSession
    let server: TLSSession

    init(client: TLSContext, server: TLSContext) throws {
        self.client = try client.makeSession(hostName: "localhost", peerName: "peer")
        self.server = try server.makeSession(hostName: nil, peerName: "client")
    }

    /// Goes on with both handshakes until they are done; what the server says behind them, and the client has not got.
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

    /// All that can be decrypted of what it was given.
    func readAll() throws -> [UInt8] {
        var bytes: [UInt8] = []
        var space = [UInt8](repeating: 0, count: 1_000)
        while case .bytes(let count) = try space.withUnsafeMutableBytes({ try read(into: $0) }) {
            bytes += space.prefix(count)
        }
        return bytes
    }

    /// Encrypts some of `bytes`; the count.
    func write(_ bytes: [UInt8]) throws -> Int { try bytes.withUnsafeBytes { try write($0) } }
}

extension [UInt8] {
    /// The first record of TLS in encrypted bytes, and those behind it.
    var firstRecord: (record: [UInt8], rest: [UInt8]) {
        guard count > 5 else { return (self, []) }
        let end = Swift.min(count, 5 + (Int(self[3]) << 8 | Int(self[4])))
        return (Array(self[..<end]), Array(self[end...]))
    }
}
