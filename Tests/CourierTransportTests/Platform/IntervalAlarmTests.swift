import Testing

@testable import CourierTransport

/// A ``SuspendWatcher`` that compares the clocks regularly.
@Suite struct IntervalAlarmTests {
    @Test func `the watcher reports a suspend at most 15 s after the machine has resumed`() async throws {
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        let clocks = Watched(SuspendDetector.Reading(boot: .zero, monotonic: .zero))
        let sleeps = Watched<[Duration]>([])
        let watcher = SuspendWatcher.start(
            on: loop, shortestSleep: .seconds(2), checkInterval: .seconds(60), readClocks: { clocks.value },
            makeAlarm: { IntervalAlarm($0) }, resumed: { slept in sleeps.update { $0.append(slept) } })
        await loop.run {}
        clocks.update { $0.boot += .seconds(90) }
        clock.advance(by: .seconds(14))
        await loop.run {}
        await loop.run {}
        #expect(sleeps.value == [])
        clock.advance(by: .seconds(1))
        try await sleeps.wait("the suspend") { $0 == [.seconds(90)] }
        clocks.update { $0.boot += .seconds(3) }
        clock.advance(by: .seconds(15))
        try await sleeps.wait("the next suspend") { $0 == [.seconds(90), .seconds(3)] }
        watcher.stop()
        await loop.run {}
        clocks.update { $0.boot += .seconds(90) }
        clock.advance(by: .seconds(15))
        await loop.run {}
        await loop.run {}
        #expect(sleeps.value.count == 2)
        await loop.shutdown()
    }
}
