import Synchronization

/// The QoS 2 exchanges in which the broker has sent PUBREL to one client, as seen by the client's proxy.
///
/// mosquitto 2.0.11 has a mistake that [MQTT-4.3.3-6] forbids: it forgets in two cases that it has sent PUBREL, and
/// sends PUBLISH with the same id again. It does so if it is stopped before the client's PUBCOMP. It also does so if
/// two connections in a row end before PUBCOMP, and the second ends before PUBREL was sent again.
///
/// The client has released the id, so it can not recognize the repetition. This type reports whether an exchange was in
/// one of these two states.
package final class Releases: Sendable {
    private struct Release {
        let released: ContinuousClock.Instant
        /// When PUBCOMP was forwarded to the broker. Set to `nil` again if its connection ended too soon after that.
        var completed: ContinuousClock.Instant?
        /// The times at which the first two connections ended after this release, while it was the newest release of
        /// its id.
        var ends: [ContinuousClock.Instant] = []
        /// When PUBREL was sent again for this id, for the same or another exchange.
        var replaced: ContinuousClock.Instant?

        /// Returns true if the broker may not have received PUBCOMP at `instant`.
        func mayBeOpen(at instant: ContinuousClock.Instant) -> Bool {
            completed.map { $0.advanced(by: Releases.transit) >= instant } ?? true
        }
    }

    /// The longest time from forwarding a PUBCOMP until the broker has read it.
    private static let transit = Duration.seconds(1)
    /// How long a completed release is kept. No client is disconnected for this long.
    private static let kept = Duration.seconds(60)
    /// The number of releases that are kept for one id.
    private static let uses = 4

    private let releases = Mutex<[UInt16: [Release]]>([:])
    /// The times at which the broker created a session and the client may not have received the CONNACK, for reports.
    private let hiddenSessions = Mutex<[ContinuousClock.Instant]>([])

    package init() {}

    /// Notes that the broker sent PUBREL.
    package func released(_ id: UInt16) {
        releases.withLock { releases in
            var list = releases[id] ?? []
            if list.count >= Self.uses { list.removeFirst() }
            if let last = list.indices.last { list[last].replaced = .now }
            list.append(Release(released: .now))
            releases[id] = list
        }
    }

    /// Notes that the client's PUBCOMP was forwarded to the broker.
    func completed(_ id: UInt16) {
        releases.withLock { releases in
            guard var list = releases[id], let last = list.indices.last else { return }
            if list[last].completed == nil { list[last].completed = .now }
            releases[id] = list
        }
    }

    /// Notes that the broker created a session, but the connection was cut so early that the client may not know.
    func hidSession() {
        hiddenSessions.withLock { $0.append(.now) }
    }

    /// Notes the end of a connection that the broker had accepted.
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

    /// Returns true if the exchange of `id` was between PUBREL and PUBCOMP when the broker was stopped.
    package func wasOpen(_ id: UInt16, at outage: Outage) -> Bool {
        releases.withLock { releases in
            (releases[id] ?? []).contains { release in
                release.released <= outage.ended ?? .farFuture && release.mayBeOpen(at: outage.began)
                    && release.replaced.map { $0 >= outage.began } ?? true
            }
        }
    }

    /// Returns true if two connections ended between PUBREL and PUBCOMP of `id`, both between `start` and `end`.
    package func wasOpenTwice(
        _ id: UInt16, from start: ContinuousClock.Instant, to end: ContinuousClock.Instant
    ) -> Bool {
        releases.withLock { releases in
            (releases[id] ?? []).contains { release in
                release.ends.count == 2 && release.ends.allSatisfy { $0 >= start && $0 <= end }
            }
        }
    }

    /// Removes old releases that are no longer needed.
    package func prune() {
        let horizon = ContinuousClock.now.advanced(by: .zero - Self.kept)
        releases.withLock { releases in
            releases = releases.filter { $0.value.contains { $0.completed ?? $0.released > horizon } }
        }
    }

    /// Removes all releases.
    package func forget() { releases.withLock { $0 = [:] } }

    /// The times at which the client may have missed that its session was new, as text.
    package func hiddenSessions(_ clock: RunClock) -> String {
        let times = hiddenSessions.withLock { $0 }
        return times.isEmpty ? "never" : times.map { clock.time($0) }.joined(separator: ", ")
    }

    /// Returns the releases of an id, as text for a report.
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
