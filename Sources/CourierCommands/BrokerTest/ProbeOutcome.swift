/// The result of one probe.
struct ProbeOutcome: Hashable, Sendable {
    let state: Finding.State
    /// The result, as a sentence without its full stop.
    let text: String
    /// The clause of the specification that the broker breaks, such as `[MQTT-3.3.1-6]`.
    var clause: String?
    /// The recommended action, as a sentence.
    var advice: String?
    /// The limit or the number of messages that the probe measured.
    var found: Int?
    /// The limit that the broker announces.
    var announced: Int?

    /// The tested feature works.
    static func works(_ text: String, found: Int? = nil, announced: Int? = nil) -> ProbeOutcome {
        ProbeOutcome(state: .good, text: text, found: found, announced: announced)
    }

    /// The specification allows the broker's behavior, but the user should know about the limit.
    static func note(_ text: String, found: Int? = nil, announced: Int? = nil) -> ProbeOutcome {
        ProbeOutcome(state: .notice, text: text, found: found, announced: announced)
    }

    /// The broker did not respond in time, so the probe cannot say whether the announced limit works.
    static func undecided(announced: Int) -> ProbeOutcome {
        var outcome = note(
            "the broker announces \(BenchReport.grouped(announced)), but did not respond in time", announced: announced)
        outcome.advice = "Use a longer --timeout."
        return outcome
    }

    /// The broker lacks an optional feature, and announces this.
    static let unavailable = note("the broker announces that this feature is not available")

    /// The broker breaks a rule of the specification.
    static func violation(_ text: String, _ clause: String?, found: Int? = nil, announced: Int? = nil) -> ProbeOutcome {
        ProbeOutcome(state: .problem, text: text, clause: clause, found: found, announced: announced)
    }
}
