import Synchronization

/// One time without a broker.
package struct Outage: Sendable {
    package enum Kind: Sendable {
        /// By SIGTERM: the broker stored its sessions and had them again.
        case stop
        /// By SIGKILL: the broker came back without any memory.
        case kill
    }

    package fileprivate(set) var kind: Kind
    /// Just before the signal.
    package let began: ContinuousClock.Instant
    /// When it listened again.
    package var ended: ContinuousClock.Instant?
    /// When every client had all of its subscriptions again, at the latest.
    package var recovered: ContinuousClock.Instant?
    /// The same for each client, by its index.
    fileprivate var recoveredClients: [Int: ContinuousClock.Instant] = [:]

    /// When `client` had all of its subscriptions again, at the latest.
    package func recovery(of client: Int) -> ContinuousClock.Instant {
        recoveredClients[client] ?? recovered ?? .farFuture
    }

    /// Whether the broker may have forgotten what it had at any time from `start` to `end`.
    package func isKill(between start: ContinuousClock.Instant, and end: ContinuousClock.Instant?) -> Bool {
        kind == .kill && start < (ended ?? .farFuture) && began <= (end ?? .farFuture)
    }
}

extension ContinuousClock.Instant {
    /// Later than any run lasts.
    package static var farFuture: Self { .now.advanced(by: .seconds(1_000_000)) }
}

/// All outages of a run.
package final class Outages: Sendable {
    private let list = Mutex<[Outage]>([])

    package init() {}

    package var all: [Outage] { list.withLock { $0 } }
    package var last: Outage? { list.withLock { $0.last } }

    package func begin(_ kind: Outage.Kind) {
        list.withLock { $0.append(Outage(kind: kind, began: .now)) }
    }

    /// The broker that was stopped has not stored its sessions.
    package func stopWasKill() {
        list.withLock { list in
            guard !list.isEmpty else { return }
            list[list.count - 1].kind = .kill
        }
    }

    package func end() {
        list.withLock { list in
            guard !list.isEmpty else { return }
            list[list.count - 1].ended = .now
        }
    }

    /// A client has its subscriptions again after the last outage.
    package func recovered(_ client: Int) {
        list.withLock { list in
            guard let last = list.indices.last, list[last].recoveredClients[client] == nil else { return }
            list[last].recoveredClients[client] = .now
        }
    }

    /// Every client has its subscriptions; a kill is over with that.
    package func recovered() {
        list.withLock { list in
            for index in list.indices where list[index].recovered == nil && list[index].ended != nil {
                list[index].recovered = .now
            }
        }
    }
}
