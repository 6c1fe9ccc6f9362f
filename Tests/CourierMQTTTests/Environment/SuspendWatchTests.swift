import CLinux
import Glibc
import TestSupport
import Testing

@testable import CourierMQTT
@testable import CourierTransport

@Suite struct SuspendWatchTests {
    @Test func `a later client tries again where the first one could not watch, and no more once it works`()
        async throws
    {
        let loop = try EventLoop()
        let tries = Box<Int>()
        func watch() async -> SuspendWatch {
            let watch = SuspendWatch.shared(on: loop) { loop, resumed in
                SuspendWatcher.start(
                    on: loop, shortestSleep: .seconds(2), checkInterval: .seconds(60),
                    readClocks: { SystemClocks.reading() },
                    makeTimer: {
                        let number = (tries.value ?? 0) + 1
                        tries.value = number
                        return number == 1 ? -EMFILE : courier_wall_timer()
                    }, resumed: resumed)
            }
            await withCheckedContinuation { continuation in loop.execute { continuation.resume() } }
            return watch
        }
        let first = await watch()
        #expect(tries.value == 1)
        let second = await watch()
        #expect(tries.value == 2)
        let third = await watch()
        #expect(tries.value == 2)
        #expect(first === second)
        #expect(first === third)
        await loop.shutdown()
    }

    @Test func `whoever listens is told once of each resume, until it is removed`() async throws {
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
