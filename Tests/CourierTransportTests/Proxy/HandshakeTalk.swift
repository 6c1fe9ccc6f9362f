@testable import CourierTransport

/// A handshake that reads from bytes which are all there already, and never more of them than it wants.
struct HandshakeTalk {
    enum Outcome: Equatable {
        /// Connected; this follows for the one who comes next.
        case done(rest: [UInt8])
        /// All bytes were read, and more are wanted.
        case waiting
        case failed(TransportError)
    }

    private(set) var sent: [[UInt8]] = []
    private(set) var outcome = Outcome.waiting
    private(set) var handshake: any ProxyHandshake

    /// Lets `handshake` read `input`; `size` says how many bytes a read brings at most.
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
    /// Through a proxy of this kind, to a name.
    static func example(_ kind: ProxyConfiguration.Kind, host: String = "broker.example") throws -> ProxyRoute {
        ProxyRoute(
            try ProxyConfiguration(kind, host: "proxy.example", port: 3128), try ProxyTarget(host: host, port: 8883))
    }
}
