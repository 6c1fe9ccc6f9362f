#if os(Linux)
    import CLinux
    import Glibc
    import Testing

    @testable import CourierTransport

    /// A ``NetworkWatcher`` that cannot open a socket.
    @Suite(.timeLimit(.minutes(5))) struct NetworkWatcherShortageTests {
        @Test(arguments: [EMFILE, ENFILE, ENOMEM, ENOBUFS])
        func `a network watcher that could not start without a free descriptor or memory can start later`(
            _ shortage: Int32
        ) async throws {
            try await withLoop { loop in
                let tries = Watched(0)
                let reports = Watched<[Bool]>([])
                let watcher = NetworkWatcher.start(
                    on: loop, settleTime: .milliseconds(1),
                    makeSocket: { groups in
                        if groups == 0 { return courier_routing_socket(groups) }  // The socket of a network check.
                        tries.update { $0 += 1 }
                        return tries.value <= 2 ? -shortage : courier_routing_socket(groups)
                    },
                    report: { isAvailable in reports.update { $0.append(isAvailable) } })
                await loop.run {}
                #expect(tries.value == 1)
                #expect(reports.value == [true])
                watcher.tryAgain()
                await loop.run {}
                #expect(tries.value == 2)
                watcher.tryAgain()
                watcher.tryAgain()
                try await reports.wait("a look") { $0.count == 3 }
                #expect(tries.value == 3)
                watcher.stop()
                watcher.tryAgain()
                await loop.run {}
                #expect(tries.value == 3)
            }
        }

        @Test func `if the kernel refuses the socket of a network watcher, the watcher does not try to start again`()
            async throws
        {
            try await withLoop { loop in
                let tries = Watched(0)
                let reports = Watched<[Bool]>([])
                let watcher = NetworkWatcher.start(
                    on: loop, settleTime: .milliseconds(1),
                    makeSocket: { _ in
                        tries.update { $0 += 1 }
                        return -EACCES
                    },
                    report: { isAvailable in reports.update { $0.append(isAvailable) } })
                watcher.tryAgain()
                await loop.run {}
                #expect(tries.value == 1)
                #expect(reports.value == [true])
            }
        }

        @Test(arguments: [EMFILE, ENFILE, ENOMEM, ENOBUFS])
        func `a network check that cannot open a socket reports no state and is repeated`(
            _ shortage: Int32
        ) async throws {
            let clock = ManualClock()
            let loop = try EventLoop(clock: clock)
            let looks = Watched(0)
            let reports = Watched<[Bool]>([])
            let watcher = NetworkWatcher.start(
                on: loop, settleTime: NetworkWatcher.defaultSettleTime,
                makeSocket: { groups in
                    if groups != 0 { return courier_routing_socket(groups) }
                    looks.update { $0 += 1 }
                    return looks.value == 1 ? -shortage : courier_routing_socket(groups)
                },
                report: { isAvailable in reports.update { $0.append(isAvailable) } })
            await loop.run {}
            #expect(looks.value == 1)
            #expect(reports.value == [])
            clock.advance(by: NetworkWatcher.defaultSettleTime)
            try await reports.wait("the next look") { $0.count == 1 }
            #expect(looks.value == 2)
            watcher.stop()
            await loop.shutdown()
        }
    }
#endif
