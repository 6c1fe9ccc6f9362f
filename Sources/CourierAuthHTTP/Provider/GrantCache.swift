import CourierCore
import Foundation

/// The last credentials, for as long as they are worth giving out.
struct GrantCache: Sendable {
    private struct Entry {
        let grant: ConnectGrant
        /// From here on it is not given out any more.
        let staleAt: Date
    }

    /// How long before the end an entry is stale, but at most half of its life.
    let margin: Duration
    private var entry: Entry?

    init(margin: Duration) { self.margin = margin }

    /// What may be given out at `now`.
    func grant(at now: Date) -> ConnectGrant? {
        guard let entry, now < entry.staleAt else { return nil }
        return entry.grant
    }

    /// Keeps `grant`, which was asked for at `requestedAt`, if its end is known.
    mutating func keep(_ grant: ConnectGrant, requestedAt: Date) {
        entry = grant.expiresAt.map { end in
            let life = end.timeIntervalSince(requestedAt)
            let margin = min(max(0, self.margin / .seconds(1)), life / 2)
            return Entry(grant: grant, staleAt: end.addingTimeInterval(-margin))
        }
    }

    mutating func clear() { entry = nil }
}
