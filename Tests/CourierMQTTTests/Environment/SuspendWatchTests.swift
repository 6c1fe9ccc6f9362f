#if os(Linux)
    import CLinux
    import Glibc
    import TestSupport
    import Testing

    @testable import CourierMQTT
    @testable import CourierTransport

    @Suite struct SuspendWatchTests {
        @Test func `a failed start of the suspend watch is retried by the next client until it succeeds`() async throws
        {
            try await ShortMachine.expectSecondTry { loop, machine in
                SuspendWatch.shared(on: loop) { loop, resumed in
                    SuspendWatcher.start(
                        on: loop, shortestSleep: .seconds(2), checkInterval: .seconds(60),
                        readClocks: { SystemClocks.reading() },
                        makeTimer: { machine.descriptor { courier_wall_timer() } }, resumed: resumed)
                }
            }
        }

        @Test func `each listener is called once each time the machine wakes up, until the listener is removed`()
            async throws
        {
            final class Owner: Sendable { let told = Series<String>() }
            let loop = try EventLoop()
            let resume = Box<@Sendable (Duration) -> Void>()
            let watch = SuspendWatch.shared(on: loop) { loop, resumed in
                resume.value = resumed
                return SuspendWatcher.start(
                    on: loop, shortestSleep: .seconds(2), checkInterval: .seconds(60),
                    readClocks: { SystemClocks.reading() }, makeTimer: { -EMFILE }, resumed: resumed)
            }
            let (first, second) = (Owner(), Owner())
            for owner in [first, second] { watch.listeners.add(owner) { owner.told.append("resumed") } }
            resume.value?(.seconds(9))
            #expect(first.told.values == ["resumed"])
            #expect(second.told.values == ["resumed"])
            watch.listeners.remove(first)
            resume.value?(.seconds(9))
            #expect(first.told.values == ["resumed"])
            #expect(second.told.values == ["resumed", "resumed"])
            watch.listeners.remove(second)
            await loop.shutdown()
        }
    }
#endif
