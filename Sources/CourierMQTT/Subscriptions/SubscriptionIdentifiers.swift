import CourierCore

/// The subscription identifiers of filters. Either the app chooses the identifier of a filter, or the client assigns an
/// identifier if a topic can match this filter and another filter.
///
/// An MQTT 5 broker may send one copy of a message for each subscription that matches the message [MQTT-3.3.4-2]. The
/// identifiers in a copy show the subscriptions that the copy is for.
///
/// A filter needs no identifier if no topic can match this filter and another filter. The client assigns the same
/// identifier to all filters without wildcards, so that one SUBSCRIBE can contain many of these filters. The topic of a
/// copy shows which of these filters the copy is for. The client never assigns an identifier that the app chose. If the
/// app later chooses an identifier that the client has already assigned, the filters with the assigned identifier get
/// another one.
struct SubscriptionIdentifiers: Sendable {
    /// The maximum number of filters with wildcards or share groups that get identifiers, 1,000. Further filters of
    /// this kind get no identifier. If such a further filter and another filter match a message, the broker may send
    /// the message twice.
    static let comparedLimit = 1_000

    /// For one identifier that the app chose: the number of filters with this identifier, and the number of these
    /// filters that are in share groups.
    private struct Choice {
        var count = 0
        var sharedCount = 0
    }

    private static let largest = SubscriptionProperties.largestIdentifier

    /// The filters with wildcards or in share groups, which may match topics of other filters.
    private var compared: [TopicFilter] = []
    private var identifiers: [TopicFilter: UInt32] = [:]
    /// The number of filters with each identifier. If all filters of an identifier were removed, the identifier stays
    /// here with the number 0, because messages for these filters may still arrive.
    private var counts: [UInt32: Int] = [:]
    /// The identifiers that the client assigned to filters in share groups.
    private var shared: Set<UInt32> = []
    /// The filters whose identifier the app chose. `choices` counts these filters for each identifier.
    private var chosenFilters: Set<TopicFilter> = []
    private var choices: [UInt32: Choice] = [:]
    /// The identifier that the client assigns to filters without wildcards. The initial value is the largest
    /// identifier, because an app seldom chooses the largest identifier.
    private var exact = largest

    /// The identifier of a filter; `nil` if the filter has none.
    subscript(filter: TopicFilter) -> UInt32? { identifiers[filter] }

    /// Returns true if a filter has this identifier, or if a removed filter had it and messages for that filter may
    /// still arrive.
    func isKnown(_ identifier: UInt32) -> Bool { counts[identifier] != nil }

    /// Returns true if only filters in share groups have this identifier.
    func isShared(_ identifier: UInt32) -> Bool {
        if let choice = choices[identifier] { return choice.sharedCount == choice.count }
        return shared.contains(identifier)
    }

    /// Returns true if the app chose this identifier for a filter.
    func isChosen(_ identifier: UInt32) -> Bool { choices[identifier] != nil }

    /// Returns true if the app chose this identifier for several filters. Then the identifier in a copy of a message
    /// does not show which of these filters the copy is for.
    func isAmbiguous(_ identifier: UInt32) -> Bool { choices[identifier, default: Choice()].count > 1 }

    /// Forgets the identifiers that belong only to removed filters. Called for a new session, because messages for
    /// these filters do not arrive any more. Also called if too many identifiers are known.
    mutating func forgetGone() {
        counts = counts.filter { $0.value > 0 }
        shared.formIntersection(counts.keys)
    }

    /// Assigns the identifier that the app chose to a filter. The filter must not have an identifier yet. If the client
    /// has assigned the same identifier to other filters, these filters get another identifier.
    ///
    /// - Returns: All filters that have a new identifier now, `filter` first.
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

    /// Compares a new filter with all other filters. If a topic can match the new filter and another filter, assigns an
    /// identifier to both.
    ///
    /// - Returns: The filters that get an identifier now. If the new filter gets one, it is the last element.
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

    /// Removes a filter. Its identifier remains known, because messages for the filter may still arrive.
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

    /// Assigns an identifier to a filter. Returns false if the filter already has one.
    private mutating func identify(_ filter: TopicFilter) -> Bool {
        guard identifiers[filter] == nil else { return false }
        let identifier: UInt32
        if Self.isCompared(filter) {
            var free = Self.preferred(for: filter)
            while free == exact || counts[free, default: 0] > 0 { free = Self.next(free) }
            identifier = free
        } else {
            // If the app has chosen the identifier `exact`, use another identifier.
            while isChosen(exact) { repeat { exact = Self.next(exact) } while isWild(exact) }
            identifier = exact
        }
        identifiers[filter] = identifier
        counts[identifier, default: 0] += 1
        if filter.shareGroup != nil { shared.insert(identifier) }
        return true
    }

    /// Returns true if a filter with wildcards or in a share group has this identifier.
    private func isWild(_ identifier: UInt32) -> Bool { compared.contains { identifiers[$0] == identifier } }

    private static func isCompared(_ filter: TopicFilter) -> Bool { filter.hasWildcard || filter.shareGroup != nil }

    /// Returns the first identifier to try for a filter: a hash of the filter (FNV-1a), which is equal in all
    /// processes. The broker may have kept messages for an earlier process. Because of the hash, the identifiers in
    /// these messages still belong to the same filters.
    private static func preferred(for filter: TopicFilter) -> UInt32 {
        let hash = filter.string.utf8.reduce(2_166_136_261 as UInt32) { ($0 ^ UInt32($1)) &* 16_777_619 }
        return next(hash % largest)
    }

    /// Returns the next identifier. After the largest identifier, continues with the smallest.
    private static func next(_ identifier: UInt32) -> UInt32 { identifier % largest + 1 }
}
