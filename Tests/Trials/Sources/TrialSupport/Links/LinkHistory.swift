import CourierTransport
import Synchronization

/// The packets of one client's last connections, for failure reports. They show whether a client that gets no messages
/// had no connection, got no packets from the broker, or did not answer.
package final class LinkHistory: Sendable {
    /// The packets of one connection.
    final class Link: Sendable {
        private struct State {
            var accepted: ContinuousClock.Instant?
            var hasSession = false
            var ended: ContinuousClock.Instant?
            /// The number of packets of each type, from the broker and from the client.
            var counts = [[Int]](repeating: [Int](repeating: 0, count: 16), count: 2)
        }

        private static let names = [
            (2, "CONNACK"), (3, "PUBLISH"), (4, "PUBACK"), (5, "PUBREC"), (6, "PUBREL"), (7, "PUBCOMP"),
            (8, "SUBSCRIBE"),
            (9, "SUBACK"), (10, "UNSUBSCRIBE"), (11, "UNSUBACK"), (14, "DISCONNECT"),
        ]

        private let opened = ContinuousClock.now
        private let state = Mutex(State())

        func accepted(hasSession: Bool) { state.withLock { ($0.accepted, $0.hasSession) = (.now, hasSession) } }

        func passed(_ type: UInt8, fromClient isFromClient: Bool) {
            state.withLock { $0.counts[isFromClient ? 1 : 0][Int(type & 15)] += 1 }
        }

        func ended() { state.withLock { $0.ended = .now } }

        func words(_ clock: RunClock) -> String {
            state.withLock { state in
                func times(_ instant: ContinuousClock.Instant?) -> String { instant.map { clock.time($0) } ?? "-" }
                func packets(_ counts: [Int]) -> String {
                    Self.names.filter { counts[$0.0] > 0 }.map { "\(counts[$0.0]) \($0.1)" }.joined(separator: " ")
                }
                return "\(clock.time(opened)), accepted \(times(state.accepted)) "
                    + "\(state.hasSession ? "with" : "without") a session, ended \(times(state.ended)); "
                    + "from the broker \(packets(state.counts[0])); from the client \(packets(state.counts[1]))"
            }
        }
    }

    private static let kept = 30

    private let links = Mutex<[Link]>([])

    package init() {}

    func begin() -> Link {
        let link = Link()
        links.withLock { links in
            if links.count >= Self.kept { links.removeFirst() }
            links.append(link)
        }
        return link
    }

    /// A text about the last connections.
    package func words(_ clock: RunClock) -> String {
        links.withLock { $0 }.map { $0.words(clock) }.joined(separator: "\n    ")
    }
}
