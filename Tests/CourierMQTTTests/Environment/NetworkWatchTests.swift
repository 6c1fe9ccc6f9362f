import CLinux
import Testing

@testable import CourierMQTT
@testable import CourierTransport

@Suite struct NetworkWatchTests {
    @Test func `a later client tries again where the first one could not watch, and no more once it works`()
        async throws
    {
        try await ShortMachine.expectSecondTry { loop, machine in
            NetworkWatch.shared(on: loop) { loop, report in
                NetworkWatcher.start(
                    on: loop, settleTime: NetworkWatcher.defaultSettleTime,
                    makeSocket: { groups in
                        if groups == 0 { return courier_routing_socket(groups) }  // That of a look.
                        return machine.descriptor { courier_routing_socket(groups) }
                    }, report: report)
            }
        } checkFirst: {
            #expect($0.status == .available)
        }
    }
}
