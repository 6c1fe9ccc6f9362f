import Testing

@testable import CourierTransport

#if os(Linux)
    import CLinux
    import Glibc
#endif

@Suite struct SuspendWatcherTests {
    private typealias Reading = SuspendDetector.Reading

    @Test func `SuspendWatcher reports each system sleep once, on the loop, with the duration`() async throws {
        try await withLoop { loop in
            let clocks = Watched(Reading(boot: .zero, monotonic: .zero))
            let readings = Watched(0)
            let sleeps = Watched<[Duration]>([])
            let watcher = SuspendWatcher.start(
                on: loop, shortestSleep: .seconds(2), checkInterval: .milliseconds(1),
                readClocks: {
                    readings.update { $0 += 1 }
                    return clocks.value
                },
                resumed: { slept in
                    #expect(loop.isOnLoop)
                    sleeps.update { $0.append(slept) }
                })
            try await readings.wait("a few looks") { $0 >= 4 }
            #expect(sleeps.value.isEmpty)
            clocks.update { $0.boot += .seconds(60) }
            try await sleeps.wait("the first sleep") { $0 == [.seconds(60)] }
            clocks.update { $0.boot += .seconds(1) }
            let before = readings.value
            try await readings.wait("looks after a short sleep") { $0 >= before + 3 }
            clocks.update { $0.boot += .seconds(3) }
            try await sleeps.wait("the second sleep") { $0 == [.seconds(60), .seconds(3)] }
            watcher.stop()
        }
    }

    #if os(Linux)
        @Test func `a SuspendWatcher that failed to start can start later, and does not report earlier sleeps`()
            async throws
        {
            try await withLoop { loop in
                let clocks = Watched(Reading(boot: .zero, monotonic: .zero))
                let tries = Watched(0)
                let sleeps = Watched<[Duration]>([])
                let watcher = SuspendWatcher.start(
                    on: loop, shortestSleep: .seconds(2), checkInterval: .milliseconds(1),
                    readClocks: { clocks.value },
                    makeTimer: {
                        tries.update { $0 += 1 }
                        return tries.value == 1 ? -EMFILE : courier_wall_timer()
                    },
                    resumed: { slept in sleeps.update { $0.append(slept) } })
                await loop.run {}
                #expect(tries.value == 1)
                clocks.update { $0.boot += .seconds(60) }
                watcher.tryAgain()
                watcher.tryAgain()
                await loop.run {}
                #expect(tries.value == 2)
                clocks.update { $0.boot += .seconds(3) }
                let told = try await sleeps.wait("a sleep") { !$0.isEmpty }
                #expect(told == [.seconds(3)])
                watcher.stop()
                watcher.tryAgain()
                await loop.run {}
                #expect(tries.value == 2)
            }
        }
    #endif

    @Test func `stopping one SuspendWatcher does not stop the clock readings of another SuspendWatcher`()
        async throws
    {
        try await withLoop { loop in
            let stopped = Watched(0)
            let running = Watched(0)
            func start(_ count: Watched<Int>) -> SuspendWatcher {
                SuspendWatcher.start(
                    on: loop, shortestSleep: .zero, checkInterval: .milliseconds(1),
                    readClocks: {
                        count.update { $0 += 1 }
                        return Reading(boot: .zero, monotonic: .zero)
                    }, resumed: { _ in })
            }
            let watcher = start(stopped)
            _ = start(running)
            try await stopped.wait("a look") { $0 >= 2 }
            watcher.stop()
            await loop.run {}
            let last = stopped.value
            let before = running.value
            try await running.wait("looks of the other") { $0 >= before + 5 }
            #expect(stopped.value == last)
        }
    }
}
