import CLinux
import Glibc

/// The events of a descriptor since they were last reported.
struct ReadyEvents: OptionSet, Sendable {
    let rawValue: UInt8
    static let readable = ReadyEvents(rawValue: 1)
    static let writable = ReadyEvents(rawValue: 2)
    /// The input has ended: no bytes follow after the bytes that can still be read.
    static let inputEnded = ReadyEvents(rawValue: 4)
    /// The descriptor failed in both directions.
    static let failed = ReadyEvents(rawValue: 8)
}

/// An object that receives a descriptor's events from a ``Selector``, on the loop.
protocol Selectable: AnyObject {
    /// Reports events. Each event is reported only once, so the receiver must process all available data now or
    /// remember the event.
    func ready(_ events: ReadyEvents)
}

/// Waits for events of descriptors (edge-triggered) and for a wake-up from another thread.
///
/// Each event holds a slot and its generation. So an event is ignored if its descriptor was removed after the event was
/// fetched.
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

    private static let eventCapacity = 256
    /// The tag of the wake-up descriptor. No slot uses this tag.
    private static let wakeTag = UInt64.max

    private let epoll: Int32
    private let wakeDescriptor: Int32
    private let events: UnsafeMutablePointer<epoll_event>
    private var slots: [Slot] = []
    private var freeSlots: [Int32] = []

    /// Creates the epoll descriptor and the wake-up descriptor. `add` adds a descriptor to epoll; tests replace it.
    init(
        add: (Int32, Int32, UInt32, UInt64) -> Int32 = { courier_epoll_add($0, $1, $2, $3) }
    ) throws(TransportError) {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw TransportError.system(errno, "no epoll descriptor could be made") }
        wakeDescriptor = courier_eventfd()
        guard wakeDescriptor >= 0 else {
            let number = errno
            close(epoll)
            throw TransportError.system(number, "no eventfd could be made")
        }
        guard add(epoll, wakeDescriptor, courier_epoll_in | courier_epoll_edge, Self.wakeTag) == 0 else {
            let number = errno
            close(wakeDescriptor)
            close(epoll)
            throw TransportError.system(number, "epoll cannot watch the eventfd")
        }
        events = .allocate(capacity: Self.eventCapacity)
    }

    deinit {
        close(wakeDescriptor)
        close(epoll)
        events.deallocate()
    }

    /// Ends the current wait. If there is none, the next wait ends at once. May be called from any thread.
    func wake() { courier_eventfd_signal(wakeDescriptor) }

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
        guard courier_epoll_add(epoll, descriptor, Self.flags(reads: reads, writes: writes), made.tag) == 0 else {
            let number = errno
            freeSlots.append(slot)
            throw TransportError.system(number, "epoll cannot watch descriptor \(descriptor)")
        }
        slots[Int(slot)].target = target
        return made
    }

    /// Changes the events to wait for. Events that are already pending are reported again.
    func modify(_ registration: Registration, reads: Bool, writes: Bool) {
        _ = courier_epoll_modify(
            epoll, registration.descriptor, Self.flags(reads: reads, writes: writes), registration.tag)
    }

    /// Sends the descriptor's events to another target from now on.
    func retarget(_ registration: Registration, to target: any Selectable) {
        slots[Int(registration.slot)].target = target
    }

    /// Stops waiting for the descriptor. Call this function before the descriptor is closed.
    func remove(_ registration: Registration) {
        let slot = Int(registration.slot)
        guard slots[slot].generation == registration.generation, slots[slot].target != nil else { return }
        _ = courier_epoll_remove(epoll, registration.descriptor)
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
            // The time is rounded up, so that a timer is due when the sleep for it ends.
            let (part, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
            let (total, overflow2) = product.addingReportingOverflow(part + (rest > 0 ? 1 : 0))
            nanoseconds = overflow || overflow2 ? .max : max(0, total)
        }
        // A signal may interrupt the wait. The loop handles this like a wake-up: it checks for work and waits again.
        return Int(max(0, courier_epoll_wait(epoll, events, Int32(Self.eventCapacity), nanoseconds)))
    }

    /// Reports the events that the last ``wait(limit:)`` found. Each event is reported to the target of its descriptor.
    func dispatch(_ count: Int) {
        for index in 0..<Int32(count) {
            let tag = courier_epoll_event_tag(events, index)
            if tag == Self.wakeTag { continue }
            let slot = Int(Int32(truncatingIfNeeded: tag))
            guard slots[slot].generation == UInt32(tag >> 32), let target = slots[slot].target else { continue }
            target.ready(Self.readyEvents(courier_epoll_event_flags(events, index)))
        }
    }

    private static func flags(reads: Bool, writes: Bool) -> UInt32 {
        courier_epoll_edge | (reads ? courier_epoll_in | courier_epoll_read_hangup : 0)
            | (writes ? courier_epoll_out : 0)
    }

    private static func readyEvents(_ flags: UInt32) -> ReadyEvents {
        var events: ReadyEvents = []
        if flags & courier_epoll_in != 0 { events.insert(.readable) }
        if flags & courier_epoll_out != 0 { events.insert(.writable) }
        if flags & courier_epoll_read_hangup != 0 { events.formUnion([.readable, .inputEnded]) }
        if flags & (courier_epoll_hangup | courier_epoll_error) != 0 {
            events.formUnion([.readable, .writable, .inputEnded])
            if flags & courier_epoll_error != 0 { events.insert(.failed) }
        }
        return events
    }
}
