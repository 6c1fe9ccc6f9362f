#if os(Linux)
    import CLinux
    import Testing

    @testable import CourierMQTT
    @testable import CourierTransport

    @Suite struct NetworkWatchTests {
        @Test func `a failed start of the network watch is retried by the next client until it succeeds`() async throws
        {
            try await ShortMachine.expectSecondTry { loop, machine in
                NetworkWatch.shared(on: loop) { loop, report in
                    NetworkWatcher.start(
                        on: loop, settleTime: NetworkWatcher.defaultSettleTime,
                        makeSocket: { groups in
                            if groups == 0 { return courier_routing_socket(groups) }  // The socket of a network check.
                            return machine.descriptor { courier_routing_socket(groups) }
                        }, report: report)
                }
            } checkFirst: {
                #expect($0.status == .available)
            }
        }
    }
#endif
