import CLinux
import Glibc
import Testing

@testable import CourierMQTT
@testable import CourierTransport

@Suite struct NetworkWatchTests {
    @Test func `a later client tries again where the first one could not watch, and no more once it works`()
        async throws
    {
        let loop = try EventLoop()
        let tries = Box<Int>()
        func watch() async -> NetworkWatch {
            let watch = NetworkWatch.shared(on: loop) { loop, report in
                NetworkWatcher.start(
                    on: loop, settleTime: NetworkWatcher.defaultSettleTime,
                    makeSocket: { groups in
                        if groups == 0 { return courier_routing_socket(groups) }  // That of a look.
                        let number = (tries.value ?? 0) + 1
                        tries.value = number
                        return number == 1 ? -EMFILE : courier_routing_socket(groups)
                    }, report: report)
            }
            await withCheckedContinuation { continuation in loop.execute { continuation.resume() } }
            return watch
        }
        let first = await watch()
        #expect(tries.value == 1)
        #expect(first.status == .available)
        let second = await watch()
        #expect(tries.value == 2)
        let third = await watch()
        #expect(tries.value == 2)
        #expect(first === second)
        #expect(first === third)
        await loop.shutdown()
    }
}
