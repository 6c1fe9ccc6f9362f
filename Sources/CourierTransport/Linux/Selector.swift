import CLinux
import Glibc

/// What happened to a descriptor since it was last asked for.
struct ReadyEvents: OptionSet, Sendable {
    let rawValue: UInt8
    static let readable = ReadyEvents(rawValue: 1)
    static let writable = ReadyEvents(rawValue: 2)
    /// No more bytes will come behind those that are there.
    static let inputEnded = ReadyEvents(rawValue: 4)
    /// The descriptor is dead in both directions.
    static let failed = ReadyEvents(rawValue: 8)
}

/// What a ``Selector`` tells about a descriptor, on the loop.
protocol Selectable: AnyObject {
    /// Something happened, and happened only once: nothing is repeated, so everything there is must be taken now or
    /// remembered.
    func ready(_ events: ReadyEvents)
}

/// Waits for descriptors, edge-triggered, and for a wake-up from another thread.
///
/// An event names a slot and its generation, so that one that was fetched before its descriptor was removed hits nothing.
/// Safe to share: everything but ``wake()`` is called by the loop's thread only, and that uses constants.
final class Selector: @unchecked Sendable {
    /// Names one registered descriptor.
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
    /// The tag of the wake-up descriptor; no slot has it.
    private static let wakeTag = UInt64.max

    private let epoll: Int32
    private let wakeDescriptor: Int32
    private let events: UnsafeMutablePointer<epoll_event>
    private var slots: [Slot] = []
    private var freeSlots: [Int32] = []

    /// Makes what it needs; `add` is how a descriptor is added to what epoll waits for.
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
            throw TransportError.system(number, "the eventfd can not be waited for")
        }
        events = .allocate(capacity: Self.eventCapacity)
    }

    deinit {
        close(wakeDescriptor)
        close(epoll)
        events.deallocate()
    }

    /// Ends the present or the next wait. From any thread.
    func wake() { courier_eventfd_signal(wakeDescriptor) }

    /// Watches `descriptor` until it is removed.
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
            throw TransportError.system(number, "descriptor \(descriptor) can not be waited for")
        }
        slots[Int(slot)].target = target
        return made
    }

    /// Changes what is waited for; what is the case already is reported again.
    func modify(_ registration: Registration, reads: Bool, writes: Bool) {
        _ = courier_epoll_modify(
            epoll, registration.descriptor, Self.flags(reads: reads, writes: writes), registration.tag)
    }

    /// Hands the descriptor's events to another target.
    func retarget(_ registration: Registration, to target: any Selectable) {
        slots[Int(registration.slot)].target = target
    }

    /// Stops watching; call it before closing the descriptor.
    func remove(_ registration: Registration) {
        let slot = Int(registration.slot)
        guard slots[slot].generation == registration.generation, slots[slot].target != nil else { return }
        _ = courier_epoll_remove(epoll, registration.descriptor)
        slots[slot].target = nil
        slots[slot].generation &+= 1
        freeSlots.append(registration.slot)
    }

    /// Waits for events for at most `limit` (`nil`: without limit), without waiting at zero. Returns how many there are.
    func wait(limit: Duration?) -> Int {
        var nanoseconds: Int64 = -1
        if let limit {
            let (seconds, attoseconds) = limit.components
            let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
            // Rounded up, so that a timer is due when its sleep ends.
            let (part, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
            let (total, overflow2) = product.addingReportingOverflow(part + (rest > 0 ? 1 : 0))
            nanoseconds = overflow || overflow2 ? .max : max(0, total)
        }
        // A signal that interrupts the wait is as good as a wake-up: the loop looks around and waits again.
        return Int(max(0, courier_epoll_wait(epoll, events, Int32(Self.eventCapacity), nanoseconds)))
    }

    /// Reports the events that the last ``wait(limit:)`` found.
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
