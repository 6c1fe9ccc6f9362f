import CourierCore

/// The subscription identifiers of filters that match topics in common: a broker of MQTT 5 may send a message once for
/// each subscription that matches [MQTT-3.3.4-2], and by its identifiers each copy says which ones it is for.
///
/// Filters that have no topic in common with another one need none. Those without wildcards share one, by which they
/// still travel many to a packet: which of them a copy is for, its topic says.
struct SubscriptionIdentifiers: Sendable {
    /// How many filters with wildcards or in a group are compared with others at most, 1,000. Those beyond get no
    /// identifier, and where they match what others match a broker may send it twice.
    static let comparedLimit = 1_000

    /// The largest identifier there is [MQTT-3.8.2.1.2].
    private static let maximum: UInt32 = 268_435_455
    /// That of all filters without wildcards.
    private static let exact: UInt32 = 1

    /// The filters that may have a topic in common with others.
    private var compared: [TopicFilter] = []
    private var identifiers: [TopicFilter: UInt32] = [:]
    /// How many filters have an identifier; none any more where a filter is gone, of which the broker may still have
    /// something to send.
    private var counts: [UInt32: Int] = [:]
    /// Those of filters in groups.
    private var shared: Set<UInt32> = []

    /// The identifier of a filter, if it has one.
    subscript(filter: TopicFilter) -> UInt32? { identifiers[filter] }

    /// Whether this is the identifier of a filter, or of one that is gone.
    func isKnown(_ identifier: UInt32) -> Bool { counts[identifier] != nil }

    /// Whether this is the identifier of a filter in a group.
    func isShared(_ identifier: UInt32) -> Bool { shared.contains(identifier) }

    /// Forgets the identifiers of filters that are gone: nothing comes for them any more.
    mutating func forgetGone() {
        counts = counts.filter { $0.value > 0 }
        shared.formIntersection(counts.keys)
    }

    /// Compares a new filter with those that there are, the new one perhaps among them.
    ///
    /// - Returns: The filters that have an identifier from now on, those that were there before the new one.
    mutating func add(_ filter: TopicFilter, beside others: some Sequence<TopicFilter>) -> [TopicFilter] {
        let overlapping: [TopicFilter]
        if Self.isCompared(filter) {
            guard compared.count < Self.comparedLimit else { return [] }
            overlapping = others.filter { $0 != filter && filter.overlaps($0) }
            compared.append(filter)
        } else {
            overlapping = compared.filter { filter.overlaps($0) }
        }
        guard !overlapping.isEmpty else { return [] }
        return (overlapping + [filter]).filter { identify($0) }
    }

    /// Forgets a filter, but not its identifier.
    mutating func remove(_ filter: TopicFilter) {
        if Self.isCompared(filter) { compared.removeAll { $0 == filter } }
        if let identifier = identifiers.removeValue(forKey: filter) { counts[identifier, default: 1] -= 1 }
        if counts.count > 2 * (identifiers.count + Self.comparedLimit) { forgetGone() }
    }

    /// Gives a filter an identifier; `false` when it has one.
    private mutating func identify(_ filter: TopicFilter) -> Bool {
        guard identifiers[filter] == nil else { return false }
        var identifier = Self.isCompared(filter) ? Self.preferred(for: filter) : Self.exact
        while identifier != Self.exact, counts[identifier, default: 0] > 0 { identifier = Self.next(identifier) }
        identifiers[filter] = identifier
        counts[identifier, default: 0] += 1
        if filter.shareGroup != nil { shared.insert(identifier) }
        return true
    }

    private static func isCompared(_ filter: TopicFilter) -> Bool { filter.hasWildcard || filter.shareGroup != nil }

    /// The same for the same filter in each process (FNV-1a): what a broker has kept for the session since means the
    /// same filter.
    private static func preferred(for filter: TopicFilter) -> UInt32 {
        let hash = filter.string.utf8.reduce(2_166_136_261 as UInt32) { ($0 ^ UInt32($1)) &* 16_777_619 }
        return next(hash % (maximum - exact))
    }

    /// The one after an identifier, from the first that is not ``exact``.
    private static func next(_ identifier: UInt32) -> UInt32 { identifier % (maximum - exact) + exact + 1 }
}
