import Synchronization

/// A period in which the broker was down.
package struct Outage: Sendable {
    package enum Kind: Sendable {
        /// Stopped with SIGTERM: the broker stored its sessions and loaded them again.
        case stop
        /// Killed with SIGKILL: the broker started again without its sessions.
        case kill
    }

    package fileprivate(set) var kind: Kind
    /// The time just before the signal.
    package let began: ContinuousClock.Instant
    /// The time at which the broker accepted connections again.
    package var ended: ContinuousClock.Instant?
    /// The time by which every client had all its subscriptions again.
    package var recovered: ContinuousClock.Instant?
    /// The same time for each client, by the client's index.
    fileprivate var recoveredClients: [Int: ContinuousClock.Instant] = [:]

    /// Returns the time by which `client` had all its subscriptions again.
    package func recovery(of client: Int) -> ContinuousClock.Instant {
        recoveredClients[client] ?? recovered ?? .farFuture
    }

    /// Returns true if the broker was killed and may have lost its state at some time from `start` to `end`.
    package func isKill(between start: ContinuousClock.Instant, and end: ContinuousClock.Instant?) -> Bool {
        kind == .kill && start < (ended ?? .farFuture) && began <= (end ?? .farFuture)
    }
}

extension ContinuousClock.Instant {
    /// A time after the end of any run.
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

    /// Turns the last outage into a kill, because the stopped broker has not stored its sessions.
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

    /// Notes that a client has its subscriptions again after the last outage.
    package func recovered(_ client: Int) {
        list.withLock { list in
            guard let last = list.indices.last, list[last].recoveredClients[client] == nil else { return }
            list[last].recoveredClients[client] = .now
        }
    }

    /// Notes that every client has its subscriptions again. That ends the effects of a kill.
    package func recovered() {
        list.withLock { list in
            for index in list.indices where list[index].recovered == nil && list[index].ended != nil {
                list[index].recovered = .now
            }
        }
    }
}
