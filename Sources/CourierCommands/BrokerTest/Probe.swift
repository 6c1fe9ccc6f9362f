import MQTTCodec

/// One feature or limit of a broker, and the function that tests it.
struct Probe: Sendable {
    typealias Run = @Sendable (ProbeContext) throws(LinkFailure) -> ProbeOutcome
    /// Prepares a test, and returns the function that finishes it later.
    typealias Preparation = @Sendable (ProbeContext) throws(LinkFailure) -> Run

    enum Work: Sendable {
        case now(Run)
        /// A test that must wait. Other probes run between its two parts.
        case later(after: Duration, Preparation)
    }

    /// The name in JSON, such as `retainedMessages`.
    let name: String
    /// The name in the text.
    let title: String
    /// The versions of MQTT that have the feature.
    let versions: Set<ProtocolVersion>
    /// The rule that the broker breaks if the test ends early, for example because the broker does not answer.
    let clause: Clause?
    let work: Work

    init(_ name: String, _ title: String, _ clause: Clause? = nil, run: @escaping Run) {
        self.init(name, title, [.v311, .v5], clause, .now(run))
    }

    /// Declares a probe of a feature that only MQTT 5 has.
    static func v5(_ name: String, _ title: String, _ clause: String? = nil, run: @escaping Run) -> Probe {
        Probe(name, title, [.v5], clause.map { Clause(nil, v5: $0) }, .now(run))
    }

    /// Declares a probe of a feature that only MQTT 5 has, and whose test must wait.
    static func v5(
        _ name: String, _ title: String, _ clause: String, after pause: Duration, prepare: @escaping Preparation
    ) -> Probe {
        Probe(name, title, [.v5], Clause(nil, v5: clause), .later(after: pause, prepare))
    }

    private init(
        _ name: String, _ title: String, _ versions: Set<ProtocolVersion>, _ clause: Clause?, _ work: Work
    ) {
        self.name = name
        self.title = title
        self.versions = versions
        self.clause = clause
        self.work = work
    }
}

extension Probe {
    /// All probes, in the order of the report.
    static let all =
        connecting + delivering + retaining + filtering + sharing + resuming + sizing + limiting + forwarding
        + subscribing + expiring
}
