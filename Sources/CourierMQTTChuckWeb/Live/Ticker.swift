import CourierMQTTChuck
import Dispatch
import Foundation
import Synchronization

/// Looks at the logger five times a second, tells the pages that wait, and keeps what the chart shows. Without a page it
/// does no more than the chart needs.
///
/// Everybody waits for the same tick, so a page costs the same whether it is fast, slow or one of thirty, and the logger
/// knows of none of them.
final class Ticker: Sendable {
    /// A tick as it goes to the pages.
    struct Tick: Sendable {
        let number: UInt64
        let event: Data
    }

    /// How often is looked.
    static let interval = 0.2

    /// Without news a tick comes after this many looks, so that rates fall and dead connections are found.
    static let looksBetweenTicks = 5

    /// How many ticks the chart's history has, one a second: ten minutes.
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

    /// Safe to share: it is set up before anybody else sees it, and then only cancelled, which any thread may do.
    private struct LookTimer: @unchecked Sendable { let source: any DispatchSourceTimer }

    private let logger: MQTTChuckLogger
    private let room: WaitingRoom
    private let limits: ServerLimits
    /// Where the timer looks.
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

    // MARK: Looking

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
        // Numbers only: encoding them cannot fail.
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

    /// What the chart shows, oldest first.
    var history: [TickJSON] { state.withLock { Array($0.history[$0.oldest...] + $0.history[..<$0.oldest]) } }

    // MARK: Waiting

    /// The latest tick, unless it is `number`, which the caller has seen.
    func tick(after number: UInt64) -> Tick? {
        state.withLock { $0.latest.flatMap { $0.number == number ? nil : $0 } }
    }

    /// Waits for the tick after `number`.
    ///
    /// - Returns: Whether the connection waits now; if not, there is a tick, or the server stops.
    func wait(_ seat: WaitingRoom.Seat, after number: UInt64) -> Bool {
        // Announced before it sits down: a tick in between finds the seat empty, but then the look below finds the tick.
        state.withLock { _ = $0.waiting.insert(seat) }
        return room.wait(seat) { tick(after: number) != nil }
    }

    /// A stream of ticks for one page, `nil` when there are too many already.
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
