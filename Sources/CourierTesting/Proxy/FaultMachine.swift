/// Applies the rules of a ``FaultProxy`` to each packet, and decides which faults are injected. The type does no I/O and
/// has no clock.
struct FaultMachine: Sendable {
    private struct CountedRule: Sendable {
        let rule: FaultRule
        /// The number of packets that the rule has matched.
        var count = 0
    }

    private var rules: [CountedRule]

    init(_ rules: [FaultRule] = []) { self.rules = rules.map { CountedRule(rule: $0) } }

    /// Adds a rule, which counts packets from now on.
    mutating func add(_ rule: FaultRule) { rules.append(CountedRule(rule: rule)) }

    mutating func removeAll() { rules = [] }

    /// Counts a packet for each rule that matches it, and returns the decision about the packet.
    mutating func decide(_ facts: PacketFacts) -> FaultDecision {
        var decision = FaultDecision()
        for index in rules.indices where rules[index].rule.matches(facts) {
            rules[index].count += 1
            let rule = rules[index].rule
            if rule.selection.includes(rules[index].count) { decision.apply(rule) }
        }
        return decision
    }
}

/// The decision about one packet: the faults that the proxy injects.
struct FaultDecision: Equatable, Sendable {
    /// A cut of the connection before or after the packet is forwarded, with the rule that causes the cut.
    enum Cut: Equatable, Sendable {
        case insteadOfForwarding(CutStyle, FaultRule)
        case afterForwarding(CutStyle, FaultRule)
    }

    var isDropped = false
    var isDuplicated = false
    var isCorrupted = false
    var delay = Duration.zero
    /// The cut by the first applied rule that cuts the connection; `nil` if no rule cuts it.
    var cut: Cut?
    /// The applied rules, in the order in which they were added.
    var rules: [FaultRule] = []

    /// The number of times that the packet is forwarded: 0, 1 or 2.
    var copyCount: Int {
        if isDropped { return 0 }
        if case .insteadOfForwarding = cut { return 0 }
        return isDuplicated ? 2 : 1
    }

    fileprivate mutating func apply(_ rule: FaultRule) {
        rules.append(rule)
        switch rule.action {
        case .drop: isDropped = true
        case .delay(let delay): self.delay = min(self.delay + max(.zero, delay), FaultRule.maximumDelay)
        case .duplicate: isDuplicated = true
        case .corrupt: isCorrupted = true
        case .cut(let style): if cut == nil { cut = .insteadOfForwarding(style, rule) }
        case .cutAfter(let style): if cut == nil { cut = .afterForwarding(style, rule) }
        }
    }
}
