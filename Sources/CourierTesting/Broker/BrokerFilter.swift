/// A well-formed topic filter, split into its share name and levels.
struct BrokerFilter: Hashable, Sendable {
    /// The share name of `$share/name/filter`; `nil` for a subscription that is not shared.
    let group: ExactText?
    /// The levels of the topic filter, without `$share` and the share name.
    let levels: [ExactText]

    /// Splits `filter`. For MQTT 3 clients, `knowsSharing` is `false`, because MQTT 3 does not have shared
    /// subscriptions.
    init(_ filter: String, knowsSharing: Bool) {
        var bytes = Array(filter.utf8)[...]
        group = knowsSharing ? Self.takeGroup(from: &bytes) : nil
        levels = ExactText.levels(of: bytes)
    }

    init(group: ExactText?, levels: [ExactText]) {
        self.group = group
        self.levels = levels
    }

    var hasWildcard: Bool { levels.contains(where: \.isWildcard) }

    /// The filter as the client sent it.
    var text: String {
        let filter = levels.map(\.string).joined(separator: "/")
        return if let group { "$share/\(group.string)/\(filter)" } else { filter }
    }

    private static func takeGroup(from bytes: inout ArraySlice<UInt8>) -> ExactText? {
        let prefix = "$share/".utf8
        guard bytes.starts(with: prefix) else { return nil }
        let rest = bytes.dropFirst(prefix.count)
        guard let end = rest.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        bytes = rest[rest.index(after: end)...]
        return ExactText(rest[..<end])
    }
}

extension BrokerFilter {
    /// Whether the filter matches `topic`. A wildcard in the first level does not match topics that begin with `$`
    /// ([MQTT-4.7.2-1]).
    func matches(_ topic: [ExactText]) -> Bool {
        if passesBy(topic) { return false }
        for (index, level) in levels.enumerated() {
            if level == .multiLevelWildcard { return true }
            guard index < topic.count, level == .singleLevelWildcard || level == topic[index] else { return false }
        }
        return levels.count == topic.count
    }

    /// Whether this filter matches every topic that `other` matches.
    func covers(_ other: BrokerFilter) -> Bool {
        if passesBy(other.levels) { return false }
        for (index, level) in levels.enumerated() {
            if level == .multiLevelWildcard { return true }
            guard index < other.levels.count, other.levels[index] != .multiLevelWildcard else { return false }
            guard level == .singleLevelWildcard || level == other.levels[index] else { return false }
        }
        return levels.count == other.levels.count
    }

    /// Whether a topic can exist that both filters match.
    func overlaps(_ other: BrokerFilter) -> Bool {
        if passesBy(other.levels) || other.passesBy(levels) { return false }
        for index in 0..<max(levels.count, other.levels.count) {
            let mine = index < levels.count ? levels[index] : nil
            let theirs = index < other.levels.count ? other.levels[index] : nil
            if mine == .multiLevelWildcard || theirs == .multiLevelWildcard { return true }
            guard let mine, let theirs else { return false }
            guard mine == theirs || mine == .singleLevelWildcard || theirs == .singleLevelWildcard else { return false }
        }
        return true
    }

    /// Whether the first level of this filter is a wildcard, and the first level of `others` begins with `$`. A
    /// wildcard does not match such a level.
    private func passesBy(_ others: [ExactText]) -> Bool {
        levels[0].isWildcard && others[0].bytes.first == UInt8(ascii: "$")
    }
}
