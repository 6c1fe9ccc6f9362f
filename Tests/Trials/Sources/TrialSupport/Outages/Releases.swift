import Synchronization

/// The QoS 2 exchanges that the broker has released towards one client, as its proxy saw them.
///
/// mosquitto 2.0.11 forgets in two cases that it has sent PUBREL, and sends PUBLISH for the same id again, which
/// [MQTT-4.3.3-6] forbids: when it is stopped before the client's PUBCOMP, and when two connections in a row end before
/// it, the second of them before PUBREL was sent again. The client has released the id and cannot tell it from a new
/// message. This says whether an exchange was in one of these states.
package final class Releases: Sendable {
    private struct Release {
        let released: ContinuousClock.Instant
        /// When PUBCOMP was handed to the broker, `nil` again when that was too late for its connection.
        var completed: ContinuousClock.Instant?
        /// The first two connections that ended since, with this the newest release of the id.
        var ends: [ContinuousClock.Instant] = []
        /// When PUBREL was sent again, or for another exchange.
        var replaced: ContinuousClock.Instant?

        /// Whether PUBCOMP may not have reached the broker at `instant`.
        func mayBeOpen(at instant: ContinuousClock.Instant) -> Bool {
            completed.map { $0.advanced(by: Releases.transit) >= instant } ?? true
        }
    }

    /// A PUBCOMP may be on its way for this long until the broker has read it.
    private static let transit = Duration.seconds(1)
    /// How long a completed release is kept; no client is away for as long.
    private static let kept = Duration.seconds(60)
    /// How many uses of one id are kept.
    private static let uses = 4

    private let releases = Mutex<[UInt16: [Release]]>([:])
    /// When the broker made a new session in a CONNACK that the client may not have got, for reports.
    private let hiddenSessions = Mutex<[ContinuousClock.Instant]>([])

    package init() {}

    /// The broker sent PUBREL.
    package func released(_ id: UInt16) {
        releases.withLock { releases in
            var list = releases[id] ?? []
            if list.count >= Self.uses { list.removeFirst() }
            if let last = list.indices.last { list[last].replaced = .now }
            list.append(Release(released: .now))
            releases[id] = list
        }
    }

    /// The client's PUBCOMP was handed to the broker.
    func completed(_ id: UInt16) {
        releases.withLock { releases in
            guard var list = releases[id], let last = list.indices.last else { return }
            if list[last].completed == nil { list[last].completed = .now }
            releases[id] = list
        }
    }

    /// The broker made a new session, and the connection was cut so early that the client may not know.
    func hidSession() {
        hiddenSessions.withLock { $0.append(.now) }
    }

    /// A connection of the client that the broker had accepted has ended.
    func connectionEnded() {
        let now = ContinuousClock.now
        releases.withLock { releases in
            for (id, list) in releases {
                guard let last = list.indices.last, list[last].ends.count < 2 else { continue }
                guard list[last].mayBeOpen(at: now) else { continue }
                releases[id]?[last].completed = nil
                releases[id]?[last].ends.append(now)
            }
        }
    }

    /// Whether the exchange of `id` was between PUBREL and PUBCOMP when the broker was stopped.
    package func wasOpen(_ id: UInt16, at outage: Outage) -> Bool {
        releases.withLock { releases in
            (releases[id] ?? []).contains { release in
                release.released <= outage.ended ?? .farFuture && release.mayBeOpen(at: outage.began)
                    && release.replaced.map { $0 >= outage.began } ?? true
            }
        }
    }

    /// Whether two connections ended between PUBREL and PUBCOMP of `id`, at times from `start` to `end`.
    package func wasOpenTwice(
        _ id: UInt16, from start: ContinuousClock.Instant, to end: ContinuousClock.Instant
    ) -> Bool {
        releases.withLock { releases in
            (releases[id] ?? []).contains { release in
                release.ends.count == 2 && release.ends.allSatisfy { $0 >= start && $0 <= end }
            }
        }
    }

    /// Forgets what nobody can ask about any more.
    package func prune() {
        let horizon = ContinuousClock.now.advanced(by: .zero - Self.kept)
        releases.withLock { releases in
            releases = releases.filter { $0.value.contains { $0.completed ?? $0.released > horizon } }
        }
    }

    /// Forgets every release.
    package func forget() { releases.withLock { $0 = [:] } }

    /// When the client may have missed that its session is new, in words.
    package func hiddenSessions(_ clock: RunClock) -> String {
        let times = hiddenSessions.withLock { $0 }
        return times.isEmpty ? "never" : times.map { clock.time($0) }.joined(separator: ", ")
    }

    /// What is known of an id, in words.
    package func history(of id: UInt16, _ clock: RunClock) -> String {
        let list = releases.withLock { $0[id] ?? [] }
        guard !list.isEmpty else { return "never released" }
        return list.map { release in
            let completed = release.completed.map { clock.time($0) } ?? "-"
            let ends = release.ends.map { clock.time($0) }.joined(separator: ", ")
            return
                "released at \(clock.time(release.released)), completed at \(completed), connections ended at \(ends)"
        }.joined(separator: "; ")
    }
}
