import CourierMQTT
import CourierTransport
import Foundation
import Synchronization

/// A line that carries a client's bytes, with a ``Peer`` at its far end.
final class Line: Sendable {
    enum Kind: String, CaseIterable {
        case pipes = "a pair of pipes"
        case terminal = "a pseudo-terminal"
        case streams = "a pair of Foundation streams"
    }

    let kind: Kind
    private let brokerPort: UInt16
    private let latestPeer = Mutex<Peer?>(nil)

    init(_ kind: Kind, brokerPort: UInt16) {
        self.kind = kind
        self.brokerPort = brokerPort
    }

    /// The peer at the far end of the latest connection.
    var peer: Peer? { latestPeer.withLock { $0 } }

    /// Creates a line for a new connection. If its peer cannot reach the broker, the broker's address is returned
    /// instead. The attempt then fails for the same reason, and the client repeats it.
    func endpoint() -> TransportEndpoint {
        do {
            return try make()
        } catch {
            return .tcp(host: "127.0.0.1", port: brokerPort)
        }
    }

    private func make() throws -> TransportEndpoint {
        switch kind {
        case .pipes:
            let (there, back) = (try Descriptors.pipe(), try Descriptors.pipe())
            try attachPeer(
                reading: there.reading, writing: back.writing, near: (back.reading, there.writing))
            return .descriptors(reading: back.reading, writing: there.writing)
        case .terminal:
            let (line, peer) = try Descriptors.pseudoTerminal()
            try attachPeer(reading: peer, writing: peer, near: (line, line))
            return .descriptors(reading: line, writing: line)
        case .streams:
            let (there, back) = (try Descriptors.pipe(), try Descriptors.pipe())
            try attachPeer(
                reading: there.reading, writing: back.writing, near: (back.reading, there.writing))
            // An accessory session provides streams like these. An open stream has its own descriptor, so the two
            // descriptors of the pipes are closed.
            defer {
                close(there.writing)
                close(back.reading)
            }
            guard let input = InputStream(fileAtPath: "/dev/fd/\(back.reading)"),
                let output = OutputStream(toFileAtPath: "/dev/fd/\(there.writing)", append: false)
            else { throw Descriptors.Failure("opening streams") }
            input.open()
            output.open()
            return .stream(StreamPair(input: input, output: output, name: "accessory"))
        }
    }

    /// Creates the peer at the far end. If that fails, it also closes the near end.
    private func attachPeer(reading: Int32, writing: Int32, near: (reading: Int32, writing: Int32)) throws {
        do {
            let peer = try Peer(reading: reading, writing: writing, brokerPort: brokerPort)
            latestPeer.withLock { $0 = peer }
        } catch {
            close(near.reading)
            if near.writing != near.reading { close(near.writing) }
            throw error
        }
    }
}
