import CourierCore

/// The subscription identifiers of filters that match topics in common: a broker of MQTT 5 may send a message once for
/// each subscription that matches [MQTT-3.3.4-2], and by its identifiers each copy says which ones it is for.
///
/// Filters that have no topic in common with another one need none, and travel many to a packet, which an identifier
/// does not allow.
struct SubscriptionIdentifiers: Sendable {
    /// How many filters with wildcards are compared with others at most, 1,000. Those beyond get no identifier, and
    /// where they match what others match a broker may send it twice.
    static let wildcardLimit = 1_000

    /// The largest identifier there is [MQTT-3.8.2.1.2].
    private static let maximum: UInt32 = 268_435_455

    private var wildcards: [TopicFilter] = []
    private var identifiers: [TopicFilter: UInt32] = [:]
    private var filters: [UInt32: TopicFilter] = [:]

    /// The identifier of a filter, if it has one.
    subscript(filter: TopicFilter) -> UInt32? { identifiers[filter] }

    /// The filters that have an identifier.
    var all: some Collection<(key: TopicFilter, value: UInt32)> { identifiers }

    /// Whether this is the identifier of a filter.
    func isKnown(_ identifier: UInt32) -> Bool { filters[identifier] != nil }

    /// Compares a new filter with those that there are, the new one perhaps among them.
    ///
    /// - Returns: The filters that have an identifier from now on, those that were there before the new one.
    mutating func add(_ filter: TopicFilter, beside others: some Sequence<TopicFilter>) -> [TopicFilter] {
        let overlapping: [TopicFilter]
        if filter.hasWildcard {
            guard wildcards.count < Self.wildcardLimit else { return [] }
            overlapping = others.filter { $0 != filter && filter.overlaps($0) }
            wildcards.append(filter)
        } else {
            overlapping = wildcards.filter { filter.overlaps($0) }
        }
        guard !overlapping.isEmpty else { return [] }
        return (overlapping + [filter]).filter { identify($0) }
    }

    /// Forgets a filter.
    mutating func remove(_ filter: TopicFilter) {
        if filter.hasWildcard { wildcards.removeAll { $0 == filter } }
        if let identifier = identifiers.removeValue(forKey: filter) { filters[identifier] = nil }
    }

    /// Gives a filter an identifier; `false` when it has one.
    private mutating func identify(_ filter: TopicFilter) -> Bool {
        guard identifiers[filter] == nil else { return false }
        var identifier = Self.preferred(for: filter)
        while filters[identifier] != nil { identifier = identifier % Self.maximum + 1 }
        identifiers[filter] = identifier
        filters[identifier] = filter
        return true
    }

    /// The same for the same filter in each process (FNV-1a): what a broker has kept for the session since means the
    /// same filter.
    private static func preferred(for filter: TopicFilter) -> UInt32 {
        let hash = filter.string.utf8.reduce(2_166_136_261 as UInt32) { ($0 ^ UInt32($1)) &* 16_777_619 }
        return hash % maximum + 1
    }
}
