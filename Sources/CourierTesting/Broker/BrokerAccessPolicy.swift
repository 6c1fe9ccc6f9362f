/// What the clients of a ``BrokerMachine`` may publish and subscribe to.
///
/// The first rule that applies decides; what no rule applies to is decided by ``otherwise``.
///
/// ```swift
/// let policy = BrokerAccessPolicy(rules: [.init(.deny, .publish, "read-only/#")], otherwise: .allow)
/// ```
public struct BrokerAccessPolicy: Sendable {
    /// What a rule says.
    public enum Verdict: Hashable, Sendable {
        /// It may be done.
        case allow
        /// It is refused with 0x87; a QoS 0 message is dropped, and clients before MQTT 5 are told success.
        case deny
    }

    /// What a rule is about.
    public enum Operation: Hashable, Sendable {
        /// Publishing, wills included.
        case publish
        /// Subscribing.
        case subscribe
    }

    /// One rule.
    public struct Rule: Sendable {
        let verdict: Verdict
        let operation: Operation
        let filter: BrokerFilter
        let username: String?

        /// Makes a rule.
        ///
        /// A topic is subject to it when `filter` matches the topic. A subscription is subject to a rule that allows
        /// when `filter` covers all that the subscription asks for, and to one that denies when both may match the same
        /// topic: who may not read `secret/#` may not subscribe to `#` either. A wildcard in the first level does not match
        /// topics that begin with `$`, here as everywhere: `#` and `$SYS/#` need a rule each.
        ///
        /// - Parameters:
        ///   - verdict: What the rule says.
        ///   - operation: What it is about.
        ///   - filter: A well-formed topic filter, without `$share/`.
        ///   - username: Whom it is about; `nil`, everybody, by default.
        public init(_ verdict: Verdict, _ operation: Operation, _ filter: String, username: String? = nil) {
            self.verdict = verdict
            self.operation = operation
            self.filter = BrokerFilter(filter, knowsSharing: false)
            self.username = username
        }

        private func isAbout(_ operation: Operation, _ username: String?) -> Bool {
            guard self.operation == operation else { return false }
            guard let expected = self.username else { return true }
            return username.map { $0.utf8.elementsEqual(expected.utf8) } ?? false
        }

        fileprivate func applies(toPublishing topic: [ExactText], by username: String?) -> Bool {
            isAbout(.publish, username) && filter.matches(topic)
        }

        fileprivate func applies(toSubscribing subscribed: BrokerFilter, by username: String?) -> Bool {
            guard isAbout(.subscribe, username) else { return false }
            return verdict == .allow ? filter.covers(subscribed) : filter.overlaps(subscribed)
        }
    }

    /// Everything is allowed.
    public static let allowAll = Self(rules: [], otherwise: .allow)

    /// The rules, the most important first.
    public var rules: [Rule]
    /// The verdict on what no rule applies to.
    public var otherwise: Verdict

    /// Makes a policy.
    public init(rules: [Rule], otherwise: Verdict) {
        self.rules = rules
        self.otherwise = otherwise
    }

    func allowsPublishing(to topic: [ExactText], by username: String?) -> Bool {
        (rules.first { $0.applies(toPublishing: topic, by: username) }?.verdict ?? otherwise) == .allow
    }

    func allowsSubscribing(to filter: BrokerFilter, by username: String?) -> Bool {
        (rules.first { $0.applies(toSubscribing: filter, by: username) }?.verdict ?? otherwise) == .allow
    }
}
