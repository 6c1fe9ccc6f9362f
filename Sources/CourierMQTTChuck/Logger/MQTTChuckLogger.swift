public import CourierCore
import Foundation
import Synchronization

/// Keeps every packet of the clients it is attached to, to be looked at while they run and afterwards.
///
/// ```swift
/// let logger = MQTTChuckLogger()
/// var config = MQTTClientConfig(authService: service)
/// config.packetObserver = logger
///
/// for row in logger.rows(matching: try MQTTChuckQuery("type:publish topic:orders/#")).rows { print(row) }
/// ```
///
/// One logger may be attached to several clients, and each client of a program to a logger of its own. Recording
/// takes some ten nanoseconds for a packet and never blocks on anything but the short lock of the logger; rows are
/// made on demand for them, on the thread of who asks. What is kept is bounded by
/// ``MQTTChuckOptions/logsMaxSize``, ``MQTTChuckOptions/logsMaxBytes`` and ``MQTTChuckOptions/logsMaxAge``; beyond
/// them the oldest rows are dropped and counted.
///
/// Passwords and data of enhanced authentication are overwritten before they are kept, and with them what
/// ``MQTTChuckOptions/redaction`` names.
public final class MQTTChuckLogger: PacketObserver {
    /// What it was made with.
    public let options: MQTTChuckOptions

    /// How many rows or connections are read under one hold of the lock, so that recording never waits long for somebody
    /// who looks.
    static let chunk = 256

    /// How many links of exchanges are read under one hold of the lock.
    static let linkChunk = 1_024

    let state: Mutex<LoggerState>
    let clock: @Sendable () -> Int64

    /// Makes a logger that keeps nothing yet.
    ///
    /// - Parameter options: How much it keeps, what it hides, how it shows payloads; see there for the defaults.
    public convenience init(options: MQTTChuckOptions = MQTTChuckOptions()) {
        self.init(options: options) { Nanoseconds.since1970(Date()) }
    }

    /// The same with a clock that tells nanoseconds since 1970.
    init(options: MQTTChuckOptions, clock: @escaping @Sendable () -> Int64) {
        self.options = options
        self.clock = clock
        state = Mutex(LoggerState(options))
    }

    /// Takes note of packets; the client calls it.
    ///
    /// - Parameter batch: The packets of one read or write.
    public func observed(_ batch: PacketBatch) {
        let waiters = state.withLock { state in
            state.recorder.record(batch)
            return state.takeWaiters()
        }
        for waiter in waiters { waiter() }
    }

    /// Drops all rows. Metrics and the states of connections stay.
    public func clear() {
        let waiters = state.withLock { state in
            state.recorder.clear()
            return state.takeWaiters()
        }
        for waiter in waiters { waiter() }
    }

    /// What is kept right now.
    public var summary: MQTTChuckSummary {
        let now = clock()
        return state.withLock { state in
            state.recorder.trim(now: now)
            return state.summary
        }
    }

    /// How each connection stands that has rows or may get some, in the order of opening. Recording continues while they
    /// are collected.
    public var connections: [MQTTChuckConnectionStatus] {
        var statuses: [MQTTChuckConnectionStatus] = []
        let slotCount = state.withLock { $0.recorder.connectionSlotCount }
        for start in stride(from: 0, to: slotCount, by: Self.chunk) {
            statuses += state.withLock { $0.recorder.connectionStatuses(in: start..<start + Self.chunk) }
        }
        return statuses.sorted { ($0.connection.openedNanoseconds, $0.id) < ($1.connection.openedNanoseconds, $1.id) }
    }
}

/// What the logger's lock protects.
struct LoggerState {
    var recorder: Recorder
    /// What is called, outside the lock, at the next change.
    private(set) var waiters: [UInt64: @Sendable () -> Void] = [:]
    private var nextWaiter: UInt64 = 0

    init(_ options: MQTTChuckOptions) { recorder = Recorder(options) }

    var summary: MQTTChuckSummary {
        MQTTChuckSummary(
            firstRow: recorder.firstRow, nextRow: recorder.nextRow, rowCount: recorder.heldRows,
            byteCount: recorder.heldBytes, droppedCount: recorder.droppedRows, recordedCount: recorder.recordedRows,
            clearCount: recorder.clearCount)
    }

    /// Takes all who wait, to be resumed outside the lock.
    @inline(__always)
    mutating func takeWaiters() -> [@Sendable () -> Void] {
        if waiters.isEmpty { return [] }
        defer { waiters = [:] }
        return Array(waiters.values)
    }

    mutating func newWaiterID() -> UInt64 {
        nextWaiter += 1
        return nextWaiter
    }

    mutating func wait(_ id: UInt64, _ call: @escaping @Sendable () -> Void) { waiters[id] = call }

    mutating func removeWaiter(_ id: UInt64) -> (@Sendable () -> Void)? { waiters.removeValue(forKey: id) }
}
