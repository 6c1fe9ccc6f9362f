/// Waits for events of descriptors. A ``Selector`` uses a poller and adds targets to it.
///
/// A poller reports each event once. If a descriptor is readable or writable again later, a poller may report this only
/// after a call of `modify` or `rearm`.
///
/// The loop's thread calls `wait`. During that call, another thread may call any other function, but only one thread at
/// a time. Any thread may call `wake` at any time.
protocol Poller: AnyObject, Sendable {
    /// True if a descriptor's next event is reported only after a call of `rearm`.
    var needsRearming: Bool { get }

    /// Starts to wait for events of `descriptor`. The events carry `tag`. Returns 0 or an error number; EPERM if the
    /// descriptor cannot report readiness.
    func add(_ descriptor: Int32, reads: Bool, writes: Bool, tag: UInt64) -> Int32
    /// Changes the events to wait for. Events that are already pending are reported again.
    func modify(_ descriptor: Int32, reads: Bool, writes: Bool, tag: UInt64)
    /// Adds `events` to the events to wait for, because a read or a write has found the descriptor not ready.
    func rearm(_ descriptor: Int32, _ events: ReadyEvents)
    func remove(_ descriptor: Int32)

    /// Ends the current wait. If no wait is in progress, the next wait ends at once.
    func wake()
    /// Waits for events and returns their number. Waits at most for `nanoseconds`. If the value is negative, there is no
    /// limit.
    func wait(nanoseconds: Int64) -> Int
    /// Returns an event that the last wait found, and the tag of its descriptor; `nil` for a wake-up.
    func event(at index: Int) -> (tag: UInt64, events: ReadyEvents)?
}

/// The new events of a descriptor since the last report.
struct ReadyEvents: OptionSet, Sendable {
    let rawValue: UInt8
    static let readable = ReadyEvents(rawValue: 1)
    static let writable = ReadyEvents(rawValue: 2)
    /// The input has ended: no bytes follow after the bytes that can still be read.
    static let inputEnded = ReadyEvents(rawValue: 4)
    /// The descriptor failed in both directions.
    static let failed = ReadyEvents(rawValue: 8)
}
