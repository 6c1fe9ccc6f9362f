import Glibc
import Testing

@testable import CourierTransport

/// The promises of a selector, with the poller of each platform.
@Suite(.timeLimit(.minutes(5))) struct SelectorTests {
    /// Records the events of one descriptor.
    private final class Target: Selectable {
        private(set) var reports: [ReadyEvents] = []
        func ready(_ events: ReadyEvents) { reports.append(events) }
    }

    /// Two connected sockets that do not block. The pair closes them at its end.
    private final class SocketPair {
        let near: Int32
        let far: Int32
        private var isFarOpen = true

        init() throws {
            var made: [Int32] = [-1, -1]
            try #require(socketpair(AF_UNIX, Sockets.stream, 0, &made) == 0)
            (near, far) = (made[0], made[1])
            for socket in made { try #require(Sockets.setNonblocking(socket) == 0) }
        }

        deinit {
            close(near)
            if isFarOpen { close(far) }
        }

        /// Sends one byte to the near socket.
        func sendByte() throws { try #require(write(far, [1], 1) == 1) }

        func readByte() throws {
            var byte: UInt8 = 0
            try #require(read(near, &byte, 1) == 1)
        }

        func closeFar() {
            isFarOpen = false
            close(far)
        }
    }

    /// Reports all pending events, without waiting.
    private func report(_ selector: Selector) { selector.dispatch(selector.wait(limit: .zero)) }

    @Test(arguments: Platform.allCases)
    func `a selector reports a readable descriptor once, and again only after rearming and new bytes`(
        _ platform: Platform
    ) throws {
        let selector = try Selector(platform)
        let (pair, target) = (try SocketPair(), Target())
        let registration = try selector.register(pair.near, reads: true, writes: false, target)
        report(selector)
        #expect(target.reports == [])
        try pair.sendByte()
        report(selector)
        report(selector)
        #expect(target.reports == [.readable])
        try pair.readByte()
        selector.rearm(registration, .readable)
        report(selector)
        #expect(target.reports == [.readable])
        try pair.sendByte()
        report(selector)
        report(selector)
        #expect(target.reports == [.readable, .readable])
        selector.remove(registration)
    }

    @Test(arguments: Platform.allCases)
    func `modify() of a selector reports pending events again, and changes which events are reported`(
        _ platform: Platform
    ) throws {
        let selector = try Selector(platform)
        let (pair, target) = (try SocketPair(), Target())
        let registration = try selector.register(pair.near, reads: true, writes: false, target)
        try pair.sendByte()
        report(selector)
        selector.modify(registration, reads: true, writes: true)
        report(selector)
        report(selector)
        #expect(target.reports == [.readable, [.readable, .writable]])
        selector.modify(registration, reads: false, writes: false)
        try pair.sendByte()
        report(selector)
        #expect(target.reports.count == 2)
        selector.remove(registration)
    }

    @Test(arguments: Platform.allCases)
    func `a selector reports a closed peer once, even if it waits for no events of the descriptor`(
        _ platform: Platform
    ) throws {
        let selector = try Selector(platform)
        let (pair, target) = (try SocketPair(), Target())
        let registration = try selector.register(pair.near, reads: false, writes: false, target)
        pair.closeFar()
        report(selector)
        report(selector)
        #expect(target.reports.count == 1)
        #expect(target.reports.allSatisfy { $0.contains([.readable, .inputEnded]) })
        selector.modify(registration, reads: true, writes: false)
        report(selector)
        report(selector)
        #expect(target.reports.count == 2)
        selector.remove(registration)
    }

    @Test(arguments: Platform.allCases)
    func `if a registration is removed after its event was fetched, the selector does not report the event`(
        _ platform: Platform
    ) throws {
        let selector = try Selector(platform)
        let (pair, old, new) = (try SocketPair(), Target(), Target())
        let registration = try selector.register(pair.near, reads: false, writes: true, old)
        let count = selector.wait(limit: .zero)
        selector.remove(registration)
        let next = try selector.register(pair.near, reads: true, writes: false, new)
        selector.dispatch(count)
        report(selector)
        #expect(old.reports == [] && new.reports == [])
        selector.remove(registration)  // The registration is outdated and has no effect.
        try pair.sendByte()
        report(selector)
        #expect(new.reports == [.readable])
        selector.remove(next)
    }

    @Test(arguments: Platform.allCases)
    func `many wake-ups end only the current wait of a selector, and not the next wait`(_ platform: Platform) throws {
        let selector = try Selector(platform)
        for _ in 0..<100_000 { selector.wake() }
        report(selector)
        let pair = try SocketPair()
        let target = Target()
        let registration = try selector.register(pair.near, reads: true, writes: false, target)
        try pair.sendByte()
        #expect(selector.wait(limit: nil) == 1)
        selector.remove(registration)
    }

    @Test(arguments: Platform.allCases, [nil, .microseconds(20), .milliseconds(2)] as [Duration?])
    func `a descriptor that another thread adds during a wait is reported by this wait or by a later wait`(
        _ platform: Platform, _ limit: Duration?
    ) async throws {
        let selector = try Selector(platform)
        let count = Watched(0)
        let thread = try LoopThread(name: "test-selector") {
            var found = 0
            while found == 0 { found = selector.wait(limit: limit) }
            let events = found
            count.update { $0 = events }
        }
        let (pair, target) = (try SocketPair(), Target())
        try pair.sendByte()
        let registration = try selector.register(pair.near, reads: true, writes: false, target)
        try await count.wait("the event") { $0 == 1 }
        thread.join()
        selector.dispatch(count.value)
        #expect(target.reports == [.readable])
        selector.remove(registration)
    }

    @Test(arguments: Platform.allCases)
    func `a selector refuses a regular file, a closed descriptor and a descriptor that it already watches`(
        _ platform: Platform
    ) throws {
        let selector = try Selector(platform)
        let target = Target()
        func failure(_ descriptor: Int32) -> Int32? {
            #expect(throws: TransportError.self) {
                try selector.register(descriptor, reads: true, writes: false, target)
            }?.errno
        }
        let file = open("/etc/passwd", O_RDONLY)
        defer { close(file) }
        #expect(failure(file) == EPERM)
        #expect(failure(1 << 20) == EBADF)
        let pair = try SocketPair()
        let registration = try selector.register(pair.near, reads: true, writes: false, target)
        #expect(failure(pair.near) == EEXIST)
        selector.remove(registration)
        _ = try selector.register(pair.near, reads: true, writes: false, target)
    }
}
