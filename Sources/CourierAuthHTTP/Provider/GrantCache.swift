import CourierCore
import Foundation

/// Caches the last credentials until shortly before they expire.
struct GrantCache: Sendable {
    private struct Entry {
        let grant: ConnectGrant
        /// The time from which the cache no longer returns the grant.
        let staleAt: Date
    }

    /// An entry becomes stale this time before its credentials expire. The margin is at most half of the credentials'
    /// lifetime.
    let margin: Duration
    private var entry: Entry?

    init(margin: Duration) { self.margin = margin }

    /// Returns the cached grant (the credentials and their expiry). Returns `nil` if there is no grant or the grant is
    /// stale at `now`.
    func grant(at now: Date) -> ConnectGrant? {
        guard let entry, now < entry.staleAt else { return nil }
        return entry.grant
    }

    /// Caches `grant`, which was requested at `requestedAt`. If its expiry is not known, the cache is cleared.
    mutating func keep(_ grant: ConnectGrant, requestedAt: Date) {
        entry = grant.expiresAt.map { end in
            let life = end.timeIntervalSince(requestedAt)
            let margin = min(max(0, self.margin / .seconds(1)), life / 2)
            return Entry(grant: grant, staleAt: end.addingTimeInterval(-margin))
        }
    }

    mutating func clear() { entry = nil }
}
