/// A named reconnect policy. It hides the policy's generic type, so that all policies fit into one list.
struct Contestant: Sendable {
    let name: String
    /// True if the policy's curve is drawn in the figure.
    let isDrawn: Bool
    let run: @Sendable (Scene, UInt64) -> Outcome

    init(_ name: String, isDrawn: Bool = false, _ policy: some ReconnectPolicy) {
        self.name = name
        self.isDrawn = isDrawn
        run = { scene, seed in Storm(policy, scene, seed: seed).run() }
    }

    /// All policies, in the order of the table. docs/guides/reconnect.md names the sources of the other clients'
    /// values.
    static let all: [Contestant] = [
        Contestant(
            "**Courier's default**: 5 s ×2 to 10 s, `.equal`", isDrawn: true,
            OwnPolicy(interval: 5, maximum: 10, jitter: .equal)),
        Contestant(
            "Courier, 1 s ×2 to 30 s, `.equal`", isDrawn: true, OwnPolicy(interval: 1, maximum: 30, jitter: .equal)),
        Contestant("Courier, 1 s ×2 to 60 s, `.equal`", OwnPolicy(interval: 1, maximum: 60, jitter: .equal)),
        Contestant("Courier, 1 s ×2 to 60 s, `.full`", OwnPolicy(interval: 1, maximum: 60, jitter: .full)),
        Contestant(
            "always 1 s (MQTT.js)", isDrawn: true, DoublingPolicy(first: 1_000, maximum: 1_000, spread: 0)),
        Contestant(
            "1 s ×2 to 60 s (Paho C)", isDrawn: true, DoublingPolicy(first: 1_000, maximum: 60_000, spread: 0)),
        Contestant("1 s ×2 to 120 s (MQTTNIO)", DoublingPolicy(first: 1_000, maximum: 120_000, spread: 0)),
        Contestant("1 s ×2 to 60 s, ±20 %", DoublingPolicy(first: 1_000, maximum: 60_000, spread: 0.2)),
        Contestant(
            "1 s ×2 to 120 s, ±25 % (HiveMQ)", isDrawn: true,
            DoublingPolicy(first: 1_000, maximum: 120_000, spread: 0.25)),
        Contestant(
            "decorrelated, 1 s to 60 s", isDrawn: true, DecorrelatedPolicy(base: 1_000, maximum: 60_000)),
    ]
}
