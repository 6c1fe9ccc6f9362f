/// What is done over a wire.
enum Job: String, CaseIterable, Sendable {
    /// Publishing at QoS 0, until the broker has all.
    case publishQoS0 = "publish QoS 0"
    /// Publishing at QoS 1, until all are acknowledged.
    case publishQoS1 = "publish QoS 1"
    /// Publishing at QoS 1 to a topic that the same client reads, until all have come back.
    case thereAndBack = "there and back"

    /// How many messages a run has.
    var count: Int { self == .publishQoS0 ? 400_000 : 100_000 }
}
