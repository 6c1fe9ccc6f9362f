@testable import CourierTransport

/// Passes prepared bytes to a handshake, at most as many as the handshake requests.
struct HandshakeTalk {
    enum Outcome: Equatable {
        /// The handshake succeeded. `rest` contains the bytes after it.
        case done(rest: [UInt8])
        /// The handshake read all bytes and needs more.
        case waiting
        case failed(TransportError)
    }

    private(set) var sent: [[UInt8]] = []
    private(set) var outcome = Outcome.waiting
    private(set) var handshake: any ProxyHandshake

    /// Passes `input` to `handshake`. `size` returns the largest number of bytes for each read.
    init(_ handshake: any ProxyHandshake, _ input: [UInt8], size: () -> Int = { .max }) {
        self.handshake = handshake
        sent.append(self.handshake.begin())
        var rest = input[...]
        do throws(TransportError) {
            while !rest.isEmpty {
                let part = Array(rest.prefix(min(self.handshake.wantedCount, max(1, size()))))
                rest = rest.dropFirst(part.count)
                switch try self.handshake.received(part.span) {
                case .none: break
                case .send(let bytes): sent.append(bytes)
                case .done:
                    outcome = .done(rest: Array(rest))
                    return
                }
            }
        } catch {
            outcome = .failed(error)
        }
    }

    var error: TransportError? { if case .failed(let error) = outcome { error } else { nil } }
}

extension ProxyRoute {
    /// A route to a host name, through a proxy of this kind.
    static func example(_ kind: ProxyConfiguration.Kind, host: String = "broker.example") throws -> ProxyRoute {
        ProxyRoute(
            try ProxyConfiguration(kind, host: "proxy.example", port: 3128), try ProxyTarget(host: host, port: 8883))
    }
}
