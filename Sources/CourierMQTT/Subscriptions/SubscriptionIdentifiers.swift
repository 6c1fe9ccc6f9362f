import CourierCore

/// The subscription identifiers of filters: chosen by the app, or by the client for filters that match common topics.
///
/// A broker of MQTT 5 may send a message once for each subscription that matches [MQTT-3.3.4-2]. The identifiers of each
/// copy name the subscriptions that the copy is for.
///
/// A filter without common topics needs no identifier. Filters without wildcards share one identifier of the client, so that many
/// of them fit into one packet: the topic of a copy names its filter. An identifier of the client never equals one of the app. If
/// the app chooses it later, its filters get another one.
struct SubscriptionIdentifiers: Sendable {
    /// How many filters with wildcards or in a group are compared with others at most, 1,000. Those beyond get no
    /// identifier, and where they match what others match a broker may send it twice.
    static let comparedLimit = 1_000

    /// The filters that have one identifier by the app's choice.
    private struct Choice {
        var count = 0
        var sharedCount = 0
    }

    private static let largest = SubscriptionProperties.largestIdentifier

    /// The filters that may have a topic in common with others.
    private var compared: [TopicFilter] = []
    private var identifiers: [TopicFilter: UInt32] = [:]
    /// The number of filters with an identifier. It may be 0 for a removed filter whose messages may still arrive.
    private var counts: [UInt32: Int] = [:]
    /// The own identifiers of filters in groups.
    private var shared: Set<UInt32> = []
    /// The filters whose identifier the app chose, and these identifiers.
    private var chosenFilters: Set<TopicFilter> = []
    private var choices: [UInt32: Choice] = [:]
    /// The own identifier of all filters without wildcards; the app seldom chooses the largest.
    private var exact = largest

    /// The identifier of a filter, if it has one.
    subscript(filter: TopicFilter) -> UInt32? { identifiers[filter] }

    /// Whether this is the identifier of a present or removed filter.
    func isKnown(_ identifier: UInt32) -> Bool { counts[identifier] != nil }

    /// Whether this is the identifier of filters in groups only.
    func isShared(_ identifier: UInt32) -> Bool {
        if let choice = choices[identifier] { return choice.sharedCount == choice.count }
        return shared.contains(identifier)
    }

    /// Whether the app chose this identifier for a filter.
    func isChosen(_ identifier: UInt32) -> Bool { choices[identifier] != nil }

    /// Whether a copy with this identifier may be for several filters that match the same topics.
    func isAmbiguous(_ identifier: UInt32) -> Bool { choices[identifier, default: Choice()].count > 1 }

    /// Forgets the identifiers of filters that are gone: nothing comes for them any more.
    mutating func forgetGone() {
        counts = counts.filter { $0.value > 0 }
        shared.formIntersection(counts.keys)
    }

    /// Sets the app's identifier of a filter without an identifier.
    ///
    /// - Returns: The filters with a new identifier: this filter, and filters that had the same one from the client.
    mutating func choose(_ identifier: UInt32, for filter: TopicFilter) -> [TopicFilter] {
        var displaced: [TopicFilter] = []
        if counts[identifier, default: 0] > choices[identifier, default: Choice()].count {
            displaced = identifiers.filter { $0.value == identifier && !chosenFilters.contains($0.key) }.map(\.key)
            for filter in displaced { identifiers[filter] = nil }
            counts[identifier, default: 0] -= displaced.count
            shared.remove(identifier)
        }
        choices[identifier, default: Choice()].count += 1
        if filter.shareGroup != nil { choices[identifier, default: Choice()].sharedCount += 1 }
        chosenFilters.insert(filter)
        identifiers[filter] = identifier
        counts[identifier, default: 0] += 1
        return [filter] + displaced.sorted { $0.string < $1.string }.filter { identify($0) }
    }

    /// Compares a new filter with the present ones.
    ///
    /// - Returns: The filters that get an identifier now; earlier filters come first.
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
        if let identifier = identifiers.removeValue(forKey: filter) {
            counts[identifier, default: 1] -= 1
            if chosenFilters.remove(filter) != nil { unchoose(identifier, filter) }
        }
        if counts.count > 2 * (identifiers.count + Self.comparedLimit) { forgetGone() }
    }

    private mutating func unchoose(_ identifier: UInt32, _ filter: TopicFilter) {
        guard var choice = choices[identifier] else { return }
        choice.count -= 1
        if filter.shareGroup != nil { choice.sharedCount -= 1 }
        choices[identifier] = choice.count > 0 ? choice : nil
    }

    /// Gives a filter an identifier; `false` when it has one.
    private mutating func identify(_ filter: TopicFilter) -> Bool {
        guard identifiers[filter] == nil else { return false }
        let identifier: UInt32
        if Self.isCompared(filter) {
            var free = Self.preferred(for: filter)
            while free == exact || counts[free, default: 0] > 0 { free = Self.next(free) }
            identifier = free
        } else {
            // The app may have chosen it, and then it is no longer the client's own.
            while isChosen(exact) { repeat { exact = Self.next(exact) } while isWild(exact) }
            identifier = exact
        }
        identifiers[filter] = identifier
        counts[identifier, default: 0] += 1
        if filter.shareGroup != nil { shared.insert(identifier) }
        return true
    }

    /// Whether a filter with wildcards or in a group has this identifier.
    private func isWild(_ identifier: UInt32) -> Bool { compared.contains { identifiers[$0] == identifier } }

    private static func isCompared(_ filter: TopicFilter) -> Bool { filter.hasWildcard || filter.shareGroup != nil }

    /// The same for the same filter in each process (FNV-1a): what a broker has kept for the session since means the
    /// same filter.
    private static func preferred(for filter: TopicFilter) -> UInt32 {
        let hash = filter.string.utf8.reduce(2_166_136_261 as UInt32) { ($0 ^ UInt32($1)) &* 16_777_619 }
        return next(hash % largest)
    }

    /// The identifier after another one; the smallest after the largest.
    private static func next(_ identifier: UInt32) -> UInt32 { identifier % largest + 1 }
}
