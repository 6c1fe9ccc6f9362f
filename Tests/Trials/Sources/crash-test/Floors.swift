/// The minimum number of messages that a run must have. A run without messages breaks no promise, so it proves nothing.
///
/// A worker that connects runs for at least 50 ms, 0.4 s on average. In that time it sends and receives dozens of
/// messages.
struct Floors {
    /// A run with fewer kills is not checked.
    static let fewestKills = 5
    /// At least this many messages per kill must be sent and must arrive, in each direction and with each QoS.
    static let messagesPerKill = 1

    let kills: Int

    /// Reports a finding if there were too few messages of a kind.
    func judge(_ counts: LaneLedger.Counts, of kind: String, _ findings: Findings) {
        let floor = kills * Self.messagesPerKill
        guard kills >= Self.fewestKills, min(counts.expected, counts.arrived) < floor else { return }
        findings.add(
            .other,
            """
            \(counts.expected) \(kind) had to arrive and \(counts.arrived) did, with \(kills) kills; a run must see \
            \(floor) of both at least
            """)
    }
}
