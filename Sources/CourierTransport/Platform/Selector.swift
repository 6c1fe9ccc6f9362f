/// An object that receives a descriptor's events from a ``Selector``, on the loop.
protocol Selectable: AnyObject {
    /// Reports events. Each event is reported only once, so the receiver must process all available data now or
    /// remember the event. When a read or write finds no more data or space, the receiver calls
    /// ``Selector/rearm(_:_:)``.
    func ready(_ events: ReadyEvents)
}

/// Waits for events of descriptors and for a wake-up from another thread.
///
/// Each event contains the slot and the generation of its registration. An event is ignored if its descriptor was
/// removed after the event was fetched, because the slot then has another generation.
///
/// Safe to share: only the loop's thread calls the functions, except ``wake()``, which uses only constants.
final class Selector: @unchecked Sendable {
    /// Identifies one registered descriptor.
    struct Registration {
        fileprivate let slot: Int32
        fileprivate let generation: UInt32
        fileprivate let descriptor: Int32
        fileprivate var tag: UInt64 { UInt64(generation) << 32 | UInt64(UInt32(bitPattern: slot)) }
    }

    private struct Slot {
        var generation: UInt32
        var target: (any Selectable)?
    }

    /// The poller in use. The cases have concrete types, so that the functions that run for each event are called
    /// directly.
    private enum Backend {
        #if os(Linux)
            case epoll(EpollPoller)
        #endif
        case poll(PollPoller)
    }

    /// True if the poller reports each event only once, until ``rearm(_:_:)`` is called. If false, ``rearm(_:_:)`` does
    /// nothing.
    let needsRearming: Bool

    private let backend: Backend
    private let poller: any Poller
    private var slots: [Slot] = []
    private var freeSlots: [Int32] = []

    /// Creates a selector with the poller of `platform`.
    init(_ platform: Platform) throws(TransportError) {
        switch platform {
        #if os(Linux)
            case .linux:
                let epoll = try EpollPoller()
                (backend, poller) = (.epoll(epoll), epoll)
        #endif
        case .posix:
            let poll = try PollPoller()
            (backend, poller) = (.poll(poll), poll)
        }
        needsRearming = poller.needsRearming
    }

    /// Ends the current wait. If no wait is in progress, the next wait ends at once. May be called from any thread.
    func wake() { poller.wake() }

    /// Reports the events of `descriptor` to `target` until the registration is removed.
    func register(
        _ descriptor: Int32, reads: Bool, writes: Bool, _ target: any Selectable
    ) throws(TransportError) -> Registration {
        let slot: Int32
        if let free = freeSlots.popLast() {
            slot = free
        } else {
            slot = Int32(slots.count)
            slots.append(Slot(generation: 0, target: nil))
        }
        let made = Registration(slot: slot, generation: slots[Int(slot)].generation, descriptor: descriptor)
        let number = poller.add(descriptor, reads: reads, writes: writes, tag: made.tag)
        guard number == 0 else {
            freeSlots.append(slot)
            throw TransportError.system(number, "the event loop cannot watch descriptor \(descriptor)")
        }
        slots[Int(slot)].target = target
        return made
    }

    /// Changes the events to wait for. Events that are already pending are reported again.
    func modify(_ registration: Registration, reads: Bool, writes: Bool) {
        poller.modify(registration.descriptor, reads: reads, writes: writes, tag: registration.tag)
    }

    /// Lets the selector report the next event of each kind in `events`. Call this function when a read or a write has
    /// found the descriptor not ready.
    @inline(__always)
    func rearm(_ registration: Registration?, _ events: ReadyEvents) {
        guard needsRearming, let registration else { return }
        poller.rearm(registration.descriptor, events)
    }

    /// Stops waiting for the descriptor. Call this function before the descriptor is closed.
    func remove(_ registration: Registration) {
        let slot = Int(registration.slot)
        guard slots[slot].generation == registration.generation, slots[slot].target != nil else { return }
        poller.remove(registration.descriptor)
        slots[slot].target = nil
        slots[slot].generation &+= 1
        freeSlots.append(registration.slot)
    }

    /// Waits for events and returns their number. Waits at most for `limit`. If `limit` is `nil`, there is no limit; if
    /// it is zero, the call does not wait.
    func wait(limit: Duration?) -> Int {
        var nanoseconds: Int64 = -1
        if let limit {
            let (seconds, attoseconds) = limit.components
            let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
            // The time is rounded up, so that the timer is due when the sleep ends.
            let (part, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
            let (total, overflow2) = product.addingReportingOverflow(part + (rest > 0 ? 1 : 0))
            nanoseconds = overflow || overflow2 ? .max : max(0, total)
        }
        return poller.wait(nanoseconds: nanoseconds)
    }

    /// Reports the events that the last ``wait(limit:)`` found. Each event is reported to the target of its descriptor.
    func dispatch(_ count: Int) {
        switch backend {
        #if os(Linux)
            case .epoll(let poller): dispatch(count, of: poller)
        #endif
        case .poll(let poller): dispatch(count, of: poller)
        }
    }

    @inline(__always)
    private func dispatch(_ count: Int, of poller: some Poller) {
        for index in 0..<count {
            guard let (tag, events) = poller.event(at: index) else { continue }
            let slot = Int(Int32(truncatingIfNeeded: tag))
            guard slots[slot].generation == UInt32(tag >> 32), let target = slots[slot].target else { continue }
            target.ready(events)
        }
    }
}
