/// What is done over a wire.
enum Job: String, CaseIterable, Sendable {
    /// Publishing at QoS 0, until the broker has all.
    case publishQoS0 = "publish QoS 0"
    /// Publishing at QoS 1, until all are acknowledged.
    case publishQoS1 = "publish QoS 1"

    /// How many messages a run has.
    var count: Int { self == .publishQoS0 ? 400_000 : 100_000 }
}
