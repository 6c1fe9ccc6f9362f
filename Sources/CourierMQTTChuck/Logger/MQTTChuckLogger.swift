public import CourierCore
import Foundation
import Synchronization

/// Records every packet of the clients that it is attached to, for inspection during a run and afterwards.
///
/// ```swift
/// let logger = MQTTChuckLogger()
/// var config = MQTTClientConfig(authService: service)
/// config.packetObserver = logger
///
/// for row in logger.rows(matching: try MQTTChuckQuery("type:publish topic:orders/#")).rows { print(row) }
/// ```
///
/// In this example, `service` is the app's authentication service. Several clients may use one logger, and a program
/// may have several loggers. Recording takes about ten nanoseconds per packet, and it holds a lock only for this short
/// time. Rows are formatted on demand, on the caller's thread.
///
/// ``MQTTChuckOptions/logsMaxSize``, ``MQTTChuckOptions/logsMaxBytes`` and ``MQTTChuckOptions/logsMaxAge`` limit the
/// number, size and age of rows. Beyond a limit, the oldest rows are dropped and counted. The logger remembers at most
/// 16,384 clients, and 16,384 connections without rows.
///
/// Before a packet is stored, secrets in it are overwritten: passwords, data of enhanced authentication, and everything
/// that ``MQTTChuckOptions/redaction`` names.
public final class MQTTChuckLogger: PacketObserver {
    /// The options that this logger was created with.
    public let options: MQTTChuckOptions

    /// The maximum number of rows or connections that are read while the lock is held once. A reader thus never delays
    /// recording for long.
    static let chunk = 256

    /// The maximum number of exchange links that are read while the lock is held once.
    static let linkChunk = 1_024

    let state: Mutex<LoggerState>
    let clock: @Sendable () -> Int64

    /// Creates a logger without rows.
    ///
    /// - Parameter options: The limits, the redaction rules and the display of payloads.
    public convenience init(options: MQTTChuckOptions = MQTTChuckOptions()) {
        self.init(options: options) { Nanoseconds.since1970(Date()) }
    }

    /// Creates a logger with a clock that returns nanoseconds since 1970.
    init(options: MQTTChuckOptions, clock: @escaping @Sendable () -> Int64) {
        self.options = options
        self.clock = clock
        state = Mutex(LoggerState(options))
    }

    /// Records packets. The client calls this method.
    ///
    /// - Parameter batch: The packets of one read or write of the client.
    public func observed(_ batch: PacketBatch) {
        let waiters = state.withLock { state in
            state.recorder.record(batch)
            return state.takeWaiters()
        }
        for waiter in waiters { waiter() }
    }

    /// Drops all rows. The metrics and the states of connections do not change.
    public func clear() {
        let waiters = state.withLock { state in
            state.recorder.clear()
            return state.takeWaiters()
        }
        for waiter in waiters { waiter() }
    }

    /// The row numbers and counts of the rows that the logger holds now.
    public var summary: MQTTChuckSummary {
        withHeldRows { $0.summary }
    }

    /// Drops the rows that are older than the age limit, and then calls `body` with the state. The rows must be dropped
    /// here, because recording drops old rows only when a packet arrives.
    func withHeldRows<Result>(_ body: (inout LoggerState) -> sending Result) -> sending Result {
        let now = clock()
        return state.withLock { state in
            state.recorder.trim(now: now)
            return body(&state)
        }
    }

    /// The state of each connection that has rows or may still get rows, in the order of opening. Recording continues
    /// while the states are collected.
    public var connections: [MQTTChuckConnectionStatus] {
        var statuses: [MQTTChuckConnectionStatus] = []
        let slotCount = state.withLock { $0.recorder.connectionSlotCount }
        for start in stride(from: 0, to: slotCount, by: Self.chunk) {
            statuses += state.withLock { $0.recorder.connectionStatuses(in: start..<start + Self.chunk) }
        }
        return statuses.sorted { ($0.connection.openedNanoseconds, $0.id) < ($1.connection.openedNanoseconds, $1.id) }
    }
}

/// The state that the logger's lock protects.
struct LoggerState {
    var recorder: Recorder
    /// The closures to call at the next change, by waiter number. They are called without the lock.
    private(set) var waiters: [UInt64: @Sendable () -> Void] = [:]
    private var nextWaiter: UInt64 = 0

    init(_ options: MQTTChuckOptions) { recorder = Recorder(options) }

    var summary: MQTTChuckSummary {
        MQTTChuckSummary(
            firstRow: recorder.firstRow, nextRow: recorder.nextRow, rowCount: recorder.heldRows,
            byteCount: recorder.heldBytes, droppedCount: recorder.droppedRows, recordedCount: recorder.recordedRows,
            clearCount: recorder.clearCount)
    }

    /// Removes and returns the closures of all waiters. The caller must call the closures after it has released the
    /// lock.
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
