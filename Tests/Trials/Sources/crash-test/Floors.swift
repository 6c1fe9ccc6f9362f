/// What a run must have seen at the least: one in which nothing is accepted, or nothing is sent, breaks no promise.
///
/// A life that connects goes on for 50 ms at least, 0.4 s on average, and hands over and gets dozens of messages meanwhile.
struct Floors {
    /// A run of fewer kills says nothing.
    static let fewestKills = 5
    /// So many messages of each direction and quality of service have to arrive, and do, for each kill.
    static let messagesPerKill = 1

    let kills: Int

    /// Reports if there were too few messages of a kind.
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
