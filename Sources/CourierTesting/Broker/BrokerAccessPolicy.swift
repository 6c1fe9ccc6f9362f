/// The topics that the clients of a ``BrokerMachine`` may publish to and subscribe to.
///
/// The first rule that applies decides. If no rule applies, ``otherwise`` decides.
///
/// ```swift
/// let policy = BrokerAccessPolicy(rules: [.init(.deny, .publish, "read-only/#")], otherwise: .allow)
/// ```
public struct BrokerAccessPolicy: Sendable {
    /// The decision of a rule.
    public enum Verdict: Hashable, Sendable {
        /// The operation is allowed.
        case allow
        /// The operation is refused with 0x87 (not authorized). A QoS 0 message is dropped. A PUBLISH of an MQTT 3
        /// client gets a normal acknowledgement, because MQTT 3 acknowledgements have no reason code.
        case deny
    }

    /// The operation that a rule allows or denies.
    public enum Operation: Hashable, Sendable {
        /// Publishing a message or a will.
        case publish
        /// Subscribing to a topic filter.
        case subscribe
    }

    /// One rule: it allows or denies an operation.
    public struct Rule: Sendable {
        let verdict: Verdict
        let operation: Operation
        let filter: BrokerFilter
        let username: String?

        /// Makes a rule.
        ///
        /// A rule applies to a PUBLISH if `filter` matches the topic. An allow rule applies to a subscription if
        /// `filter` covers the whole subscribed filter. A deny rule applies to a subscription if both filters can match
        /// the same topic. For example, a client that may not read `secret/#` may not subscribe to `#` either.
        ///
        /// A wildcard in the first level does not match topics that begin with `$`. So `#` and `$SYS/#` need one rule
        /// each.
        ///
        /// - Parameters:
        ///   - verdict: The decision of the rule.
        ///   - operation: The operation that the rule allows or denies.
        ///   - filter: A well-formed topic filter, without `$share/`.
        ///   - username: The user that the rule applies to; `nil`, the default, means all users.
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

    /// Allows everything.
    public static let allowAll = Self(rules: [], otherwise: .allow)

    /// The rules in the order in which they are checked.
    public var rules: [Rule]
    /// The verdict if no rule applies.
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
