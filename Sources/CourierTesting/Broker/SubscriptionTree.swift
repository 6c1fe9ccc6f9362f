import MQTTCodec

/// The subscriptions of all sessions, as a tree of filter levels.
///
/// Adding and matching are not recursive, so a long filter or topic cannot exhaust the stack. A match visits each node
/// at most once. A node is removed when no subscription is at the node or below it.
struct SubscriptionTree: Sendable {
    /// The options of one subscription.
    struct Options: Hashable, Sendable {
        var qos: PacketQoS
        var isNoLocal = false
        var isRetainAsPublished = false
        var identifier: UInt32?
    }

    /// All subscriptions that match a topic. The order within each list is undefined.
    struct Matches: Sendable {
        var direct: [(session: SessionID, options: Options)] = []
        /// The matching shared subscriptions. One member of each subscription gets the message.
        var shared: [BrokerFilter] = []
    }

    private struct Node: Sendable {
        let parent: Int
        let level: ExactText
        var children: [ExactText: Int] = [:]
        var subscribers: [SessionID: Options] = [:]
        var groups: [ExactText: ShareGroup] = [:]

        var isEmpty: Bool { children.isEmpty && subscribers.isEmpty && groups.isEmpty }
    }

    private static let root = 0
    private var nodes = [Node(parent: root, level: ExactText(""))]
    /// The indices in `nodes` that are free for reuse.
    private var vacant: [Int] = []

    /// Adds a subscription, or replaces its options if the session already has this filter ([MQTT-3.8.4-3]).
    ///
    /// - Returns: `true` if the subscription is new.
    mutating func insert(_ filter: BrokerFilter, of session: SessionID, _ options: Options) -> Bool {
        var index = Self.root
        for level in filter.levels { index = child(level, of: index) }
        if let group = filter.group {
            return nodes[index].groups[group, default: ShareGroup()].insert(session, options)
        }
        return nodes[index].subscribers.updateValue(options, forKey: session) == nil
    }

    /// Removes a subscription.
    ///
    /// - Returns: `true` if the subscription existed.
    @discardableResult
    mutating func remove(_ filter: BrokerFilter, of session: SessionID) -> Bool {
        guard let index = node(at: filter.levels) else { return false }
        defer { prune(from: index) }
        guard let group = filter.group else { return nodes[index].subscribers.removeValue(forKey: session) != nil }
        guard nodes[index].groups[group]?.remove(session) == true else { return false }
        if nodes[index].groups[group]?.isEmpty == true { nodes[index].groups[group] = nil }
        return true
    }

    /// Finds all subscriptions that match a topic.
    func matches(_ topic: [ExactText]) -> Matches {
        var matches = Matches()
        var frontier = [Self.root]
        for (depth, level) in topic.enumerated() {
            let mayBeWild = depth > 0 || level.bytes.first != UInt8(ascii: "$")  // [MQTT-4.7.2-1]
            var next: [Int] = []
            for index in frontier {
                let children = nodes[index].children
                if mayBeWild {
                    if let all = children[.multiLevelWildcard] { collect(all, into: &matches) }
                    if let any = children[.singleLevelWildcard] { next.append(any) }
                }
                if let same = children[level] { next.append(same) }
            }
            frontier = next
        }
        for index in frontier {
            collect(index, into: &matches)
            // `#` also matches its parent level (4.7.1.2).
            if let all = nodes[index].children[.multiLevelWildcard] { collect(all, into: &matches) }
        }
        return matches
    }

    /// Chooses the member that gets the next message of a shared subscription. Members take turns. Members that satisfy
    /// `isPreferred` are chosen before other members. Returns `nil` if there is no member.
    mutating func nextMember(
        of filter: BrokerFilter, preferring isPreferred: (SessionID) -> Bool
    ) -> (session: SessionID, options: Options)? {
        guard let group = filter.group, let index = node(at: filter.levels) else { return nil }
        return nodes[index].groups[group]?.next(preferring: isPreferred)
    }

    /// The number of nodes in use, without the root.
    var nodeCount: Int { nodes.count - vacant.count - 1 }
}

extension SubscriptionTree {
    private func node(at levels: [ExactText]) -> Int? {
        var index = Self.root
        for level in levels {
            guard let child = nodes[index].children[level] else { return nil }
            index = child
        }
        return index
    }

    private mutating func child(_ level: ExactText, of parent: Int) -> Int {
        if let child = nodes[parent].children[level] { return child }
        let node = Node(parent: parent, level: level)
        let index: Int
        if let place = vacant.popLast() {
            index = place
            nodes[index] = node
        } else {
            index = nodes.count
            nodes.append(node)
        }
        nodes[parent].children[level] = index
        return index
    }

    private mutating func prune(from start: Int) {
        var index = start
        while index != Self.root, nodes[index].isEmpty {
            let parent = nodes[index].parent
            nodes[parent].children[nodes[index].level] = nil
            vacant.append(index)
            index = parent
        }
    }

    private func collect(_ index: Int, into matches: inout Matches) {
        for (session, options) in nodes[index].subscribers { matches.direct.append((session, options)) }
        guard !nodes[index].groups.isEmpty else { return }
        let levels = path(to: index)
        for group in nodes[index].groups.keys { matches.shared.append(BrokerFilter(group: group, levels: levels)) }
    }

    private func path(to index: Int) -> [ExactText] {
        var levels: [ExactText] = []
        var index = index
        while index != Self.root {
            levels.append(nodes[index].level)
            index = nodes[index].parent
        }
        return levels.reversed()
    }
}
