#if os(Linux)
    import CLinux
    import Glibc

    /// Waits for events of descriptors with epoll (edge-triggered), and for a wake-up with an eventfd.
    ///
    /// Safe to share: the kernel allows all calls from several threads, and only `wait` and `event` use `events`.
    final class EpollPoller: Poller, @unchecked Sendable {
        private static let eventCapacity = 256
        /// The tag of the wake-up descriptor. No registered descriptor has this tag.
        private static let wakeTag = UInt64.max

        /// False, because edge-triggered epoll reports every later event by itself.
        var needsRearming: Bool { false }

        private let epoll: Int32
        private let wakeDescriptor: Int32
        private let events: UnsafeMutablePointer<epoll_event>

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

        func add(_ descriptor: Int32, reads: Bool, writes: Bool, tag: UInt64) -> Int32 {
            courier_epoll_add(epoll, descriptor, Self.flags(reads: reads, writes: writes), tag) == 0 ? 0 : errno
        }

        func modify(_ descriptor: Int32, reads: Bool, writes: Bool, tag: UInt64) {
            _ = courier_epoll_modify(epoll, descriptor, Self.flags(reads: reads, writes: writes), tag)
        }

        func rearm(_ descriptor: Int32, _ events: ReadyEvents) {}

        func remove(_ descriptor: Int32) { _ = courier_epoll_remove(epoll, descriptor) }

        func wake() { courier_eventfd_signal(wakeDescriptor) }

        func wait(nanoseconds: Int64) -> Int {
            // If a signal interrupts the wait, the result is 0. The loop then acts as after a wake-up: it checks for
            // work and waits again.
            Int(max(0, courier_epoll_wait(epoll, events, Int32(Self.eventCapacity), nanoseconds)))
        }

        @inline(__always)
        func event(at index: Int) -> (tag: UInt64, events: ReadyEvents)? {
            let tag = courier_epoll_event_tag(events, Int32(index))
            return tag == Self.wakeTag ? nil : (tag, Self.readyEvents(courier_epoll_event_flags(events, Int32(index))))
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
#endif
