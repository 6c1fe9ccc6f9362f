import CourierCore
import CourierMQTT

#if canImport(TrialSupport)
    import TrialSupport
#else
    import TestSupport
#endif

/// The configuration of a walk's client. The seed determines it.
struct WalkPlan: Sendable {
    static let largestMessage = 1_400

    let maximumCount: Int
    let maximumBytes: Int
    let maximumAge: Duration?
    let overflow: OfflinePolicy.Overflow
    let queuesQoS0: Bool
    let drainCount: Int
    let maximumInFlight: Int?
    let receiveMaximum: Int
    let sessionLossPolicy: SessionLossPolicy
    let hasStore: Bool
    let isListening: Bool
    let hasProperties: Bool
    let streamCapacity: Int
    let stepCount: Int

    init(_ random: inout SeededGenerator) {
        maximumCount = random.chance(70) ? 1 + random.below(6) : 1_000
        maximumBytes = random.chance(30) ? 1_500 + random.below(2_000) : 1 << 20
        maximumAge = random.pick([nil, nil, .seconds(3), .seconds(20)])
        overflow = random.pick([.fail, .dropNewest, .dropOldest, .suspend(timeout: .seconds(10))])
        queuesQoS0 = random.flag()
        drainCount = random.pick([1, 3, 1_000])
        maximumInFlight = random.chance(30) ? 1 + random.below(4) : nil
        receiveMaximum = 1 + random.below(5)
        sessionLossPolicy = random.chance(70) ? .resend : random.pick([.fail, .drop])
        hasStore = random.chance(40)
        isListening = random.flag()
        hasProperties = random.chance(30)
        streamCapacity = random.pick([64, 4_096])
        stepCount = 20 + random.below(40)
    }

    var offline: OfflinePolicy {
        OfflinePolicy(
            maximumCount: maximumCount, maximumBytes: maximumBytes, maximumAge: maximumAge, overflow: overflow,
            queuesQoS0: queuesQoS0, drainCount: drainCount)
    }

    /// True if callers of `await publish` and `await enqueue` wait for room.
    var suspends: Bool { if case .suspend = overflow { true } else { false } }
}
