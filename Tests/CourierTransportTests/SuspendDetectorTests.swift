import Testing

@testable import CourierTransport

@Suite struct SuspendDetectorTests {
    private func reading(_ boot: Double, _ monotonic: Double) -> SuspendDetector.Reading {
        SuspendDetector.Reading(boot: .seconds(boot), monotonic: .seconds(monotonic))
    }

    @Test func `SuspendDetector reports a sleep if the boot clock advances at least 2 s more than the monotonic clock`()
    {
        var detector = SuspendDetector(first: reading(1_000, 900), shortestSleep: .seconds(2))
        let script: [(boot: Double, monotonic: Double, slept: Duration?)] = [
            (1_001, 901, nil),
            (5_001, 4_901, nil),  // The machine was awake for a long time.
            (5_011, 4_901, .seconds(10)),
            (5_012, 4_902, nil),  // The suspension is reported only once.
            (5_013.5, 4_902, nil),  // This suspension is too short.
            (5_015, 4_902, nil),  // Short suspensions are not added.
            (5_017, 4_902, .seconds(2)),
            (5_016, 4_902, nil),  // A clock that goes back is harmless.
        ]
        for step in script {
            let slept = detector.read(reading(step.boot, step.monotonic))
            #expect(slept == step.slept, "at \(step)")
        }
    }

    @Test func `SuspendDetector reports no sleep if the system does not sleep`() {
        var detector = SuspendDetector(first: SystemClocks.reading(), shortestSleep: .seconds(2))
        for _ in 0..<1_000 {
            let slept = detector.read(SystemClocks.reading())
            #expect(slept == nil)
        }
    }
}
