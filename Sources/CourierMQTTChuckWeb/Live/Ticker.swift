import CourierMQTTChuck
import Dispatch
import Foundation
import Synchronization

/// Checks the logger five times per second, sends a tick with its counts to all open web pages, and stores the ticks
/// for the chart. Without an open page, it checks the logger only once per second, for the chart.
///
/// A tick is created once and sent to all pages. The number and the speed of the pages thus do not affect the logger.
final class Ticker: Sendable {
    /// A tick in the form in which the server sends it to web pages.
    struct Tick: Sendable {
        let number: UInt64
        let event: Data
    }

    /// The time between two checks of the logger, in seconds.
    static let interval = 0.2

    /// After this number of checks, a tick is sent even if the counts have not changed. So the page can show that the
    /// rates have decreased, and the server detects connections to closed pages.
    static let looksBetweenTicks = 5

    /// The maximum number of ticks in the history of the chart. One tick per second is stored, so they cover ten
    /// minutes.
    static let historyLimit = 600

    fileprivate struct State {
        var latest: Tick?
        var seen: (rows: UInt64, clears: UInt64)?
        var looks = 0
        var waiting: Set<WaitingRoom.Seat> = []
        var history: [TickJSON] = []
        var oldest = 0
        var streams = 0
    }

    /// Safe to share between threads: the timer is set up before other threads can use it. After that, it is only
    /// cancelled, and any thread may cancel it.
    private struct LookTimer: @unchecked Sendable { let source: any DispatchSourceTimer }

    private let logger: MQTTChuckLogger
    private let room: WaitingRoom
    private let limits: ServerLimits
    /// The queue on which the timer runs.
    let queue = DispatchQueue(label: "courier.inspector", qos: .utility)
    private let timer: LookTimer
    private let state = Mutex(State())

    init(_ logger: MQTTChuckLogger, _ room: WaitingRoom, _ limits: ServerLimits) {
        self.logger = logger
        self.room = room
        self.limits = limits
        timer = LookTimer(source: DispatchSource.makeTimerSource(queue: queue))
        timer.source.setEventHandler { [weak self] in self?.look() }
        timer.source.schedule(deadline: .now(), repeating: Self.interval, leeway: .milliseconds(20))
        timer.source.resume()
    }

    deinit { timer.source.cancel() }

    func stop() { timer.source.cancel() }

    // MARK: Checking the logger

    func look() {
        let (isSecond, hasStreams) = state.withLock { state in
            defer { state.looks += 1 }
            return (state.looks % Self.looksBetweenTicks == 0, state.streams > 0)
        }
        guard isSecond || hasStreams else { return }
        let summary = logger.summary
        let now = (summary.nextRow, summary.clearCount)
        let isNew = state.withLock { state in
            defer { state.seen = now }
            return state.seen.map { $0 != now } ?? true
        }
        guard isNew || isSecond else { return }
        let tick = TickJSON(logger.metrics, at: Date())
        // A tick contains only numbers, so encoding it cannot fail.
        guard let json = try? JSONEncoder().encode(tick) else { return }
        let seats = state.withLock { state in
            if isSecond { state.keep(tick) }
            state.latest = Tick(
                number: (state.latest?.number ?? 0) + 1,
                event: Data("event: tick\ndata: ".utf8) + json + Data("\n\n".utf8))
            defer { state.waiting = [] }
            return state.waiting
        }
        for seat in seats { room.wake(seat) }
    }

    /// The ticks that the chart shows, oldest first.
    var history: [TickJSON] { state.withLock { Array($0.history[$0.oldest...] + $0.history[..<$0.oldest]) } }

    // MARK: Waiting for ticks

    /// Returns the latest tick, or `nil` if the caller has already sent this tick. `number` is the number of the last
    /// tick that the caller has sent.
    func tick(after number: UInt64) -> Tick? {
        state.withLock { $0.latest.flatMap { $0.number == number ? nil : $0 } }
    }

    /// Suspends a connection until there is a tick after the tick `number`.
    ///
    /// - Returns: True if the connection waits now; false if a tick is available or the server stops.
    func wait(_ seat: WaitingRoom.Seat, after number: UInt64) -> Bool {
        // The connection is registered before it is suspended. If a tick arrives between these two steps, it cannot
        // resume the connection. The check below finds such a tick, and the connection is then not suspended.
        state.withLock { _ = $0.waiting.insert(seat) }
        return room.wait(seat) { tick(after: number) != nil }
    }

    /// Returns a stream of ticks for one page, or `nil` if too many streams are open.
    func stream() -> TickStream? {
        let isFree = state.withLock { state in
            guard state.streams < limits.eventStreams else { return false }
            state.streams += 1
            return true
        }
        return isFree ? TickStream(self) : nil
    }

    func streamClosed() { state.withLock { $0.streams -= 1 } }
}

extension Ticker.State {
    fileprivate mutating func keep(_ tick: TickJSON) {
        if history.count < Ticker.historyLimit {
            history.append(tick)
        } else {
            history[oldest] = tick
            oldest = (oldest + 1) % history.count
        }
    }
}
