import Synchronization

#if canImport(Glibc)
    import CLinux
    import Glibc
#elseif canImport(Musl)
    import CLinux
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Waits for events of descriptors with poll(2), and for a wake-up with a pipe.
///
/// poll(2) reports an event as long as its cause lasts. So the poller disarms each event that it has reported, until
/// `modify` or `rearm` arms the event again. Each wait passes all descriptors to the kernel, so its cost grows with
/// their number.
///
/// Safe to share: only `wait` and `event`, on the loop's thread, use `polled`, `polledTags` and `found`. All other state
/// is constant or under the lock.
final class PollPoller: Poller, @unchecked Sendable {
    /// A descriptor and the events to wait for.
    private struct Entry {
        let descriptor: Int32
        var tag: UInt64
        /// The armed events, as flags of poll(2).
        var armed: Int16
        /// True after a hang-up or an error was reported. poll(2) reports both even if no event is armed, so the
        /// descriptor is left out of the waits.
        var isMuted = false
    }

    private struct State {
        var entries: [Entry] = []
        /// The index in `entries` of each descriptor's entry.
        var places: [Int32: Int] = [:]
        /// True while `wait` waits with a copy of `entries`. To apply a change of `entries`, end this wait.
        var isWaiting = false
    }

    /// The pause in nanoseconds after a failed wait. Without it, repeated failures would keep a processor busy all the
    /// time.
    private static let failurePause: Int64 = 10_000_000
    private static let millisecond: Int64 = 1_000_000

    var needsRearming: Bool { true }

    private let state = Mutex(State())
    private let wakeReader: Int32
    private let wakeWriter: Int32
    /// The descriptors of the current wait. The first descriptor is `wakeReader`.
    private var polled: [pollfd] = []
    private var polledTags: [UInt64] = []
    private var found: [(tag: UInt64, events: ReadyEvents)] = []

    init() throws(TransportError) {
        var ends: (reader: Int32, writer: Int32) = (-1, -1)
        let result = POSIXSockets.makePipe(&ends)
        guard result == 0 else { throw TransportError.system(-result, "no pipe could be made") }
        (wakeReader, wakeWriter) = ends
    }

    deinit {
        close(wakeReader)
        close(wakeWriter)
    }

    // MARK: Descriptors

    func add(_ descriptor: Int32, reads: Bool, writes: Bool, tag: UInt64) -> Int32 {
        // poll(2) always reports a file or folder as ready, although a read of it can block. So files and folders are
        // refused.
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return errno }
        let kind = status.st_mode & S_IFMT
        if kind == S_IFREG || kind == S_IFDIR { return EPERM }
        var number: Int32 = 0
        change { state in
            guard state.places[descriptor] == nil else {
                number = EEXIST
                return
            }
            state.places[descriptor] = state.entries.count
            state.entries.append(
                Entry(descriptor: descriptor, tag: tag, armed: Self.flags(reads: reads, writes: writes)))
        }
        return number
    }

    func modify(_ descriptor: Int32, reads: Bool, writes: Bool, tag: UInt64) {
        change { state in
            guard let place = state.places[descriptor], state.entries[place].tag == tag else { return }
            state.entries[place].armed = Self.flags(reads: reads, writes: writes)
            state.entries[place].isMuted = false
        }
    }

    func rearm(_ descriptor: Int32, _ events: ReadyEvents) {
        change { state in
            guard let place = state.places[descriptor] else { return }
            state.entries[place].armed |= Self.flags(
                reads: events.contains(.readable), writes: events.contains(.writable))
            state.entries[place].isMuted = false
        }
    }

    func remove(_ descriptor: Int32) {
        change { state in
            guard let place = state.places.removeValue(forKey: descriptor), let last = state.entries.popLast() else {
                return
            }
            guard place < state.entries.count else { return }
            state.entries[place] = last
            state.places[last.descriptor] = place
        }
    }

    /// Changes the state, and ends a wait that uses the previous state. The wait also has to end if a descriptor was
    /// removed: the kernel closes a descriptor only after the last wait for it has ended.
    private func change(_ body: (inout State) -> Void) {
        let isWaiting = state.withLock { state in
            body(&state)
            return state.isWaiting
        }
        if isWaiting { wake() }
    }

    // MARK: Waiting

    func wake() {
        // If the pipe is full, this write fails, but its reader wakes up anyway.
        var byte: UInt8 = 1
        while write(wakeWriter, &byte, 1) < 0, errno == EINTR {}
    }

    func wait(nanoseconds: Int64) -> Int {
        copyEntries()
        let result = poll(nanoseconds)
        if result < 0, errno != EINTR, errno != EAGAIN { sleep(Self.failurePause) }
        collect(isEmpty: result <= 0)
        return found.count
    }

    func event(at index: Int) -> (tag: UInt64, events: ReadyEvents)? { found[index] }

    private func copyEntries() {
        polled.removeAll(keepingCapacity: true)
        polledTags.removeAll(keepingCapacity: true)
        polled.append(pollfd(fd: wakeReader, events: Int16(POLLIN), revents: 0))
        polledTags.append(0)
        state.withLock { state in
            state.isWaiting = true
            for entry in state.entries where !entry.isMuted {
                polled.append(pollfd(fd: entry.descriptor, events: entry.armed, revents: 0))
                polledTags.append(entry.tag)
            }
        }
    }

    /// Calls poll(2). poll(2) waits for whole milliseconds only. A shorter wait is therefore a sleep between two calls
    /// that do not wait.
    private func poll(_ nanoseconds: Int64) -> Int32 {
        if nanoseconds < 0 { return pollOnce(milliseconds: -1) }
        if nanoseconds == 0 { return pollOnce(milliseconds: 0) }
        if nanoseconds >= Self.millisecond {
            // The time is rounded up, so that the timer is due when the sleep ends.
            return pollOnce(milliseconds: Int32(clamping: (nanoseconds - 1) / Self.millisecond + 1))
        }
        let result = pollOnce(milliseconds: 0)
        if result != 0 { return result }
        sleep(nanoseconds)
        return pollOnce(milliseconds: 0)
    }

    private func pollOnce(milliseconds: Int32) -> Int32 { pollDescriptors(&polled, milliseconds) }

    private func sleep(_ nanoseconds: Int64) {
        var time = timespec()
        time.tv_nsec = Int(nanoseconds)
        nanosleep(&time, nil)
    }

    /// Stores in `found` the events that poll(2) reported. Disarms these events, so that poll(2) does not report them
    /// again before they are rearmed.
    private func collect(isEmpty: Bool) {
        found.removeAll(keepingCapacity: true)
        if !isEmpty, polled[0].revents != 0 { emptyPipe() }
        state.withLock { state in
            state.isWaiting = false
            if isEmpty { return }
            for index in 1..<polled.count where polled[index].revents != 0 {
                let flags = polled[index].revents
                guard let place = state.places[polled[index].fd], state.entries[place].tag == polledTags[index] else {
                    continue  // The descriptor was removed during the wait.
                }
                state.entries[place].armed &= ~flags
                if flags & Self.endFlags != 0 { state.entries[place].isMuted = true }
                found.append((polledTags[index], Self.readyEvents(flags)))
            }
        }
    }

    private func emptyPipe() {
        withUnsafeTemporaryAllocation(byteCount: 512, alignment: 1) { space in
            while true {
                let count = read(wakeReader, space.baseAddress, space.count)
                if count == space.count || count < 0 && errno == EINTR { continue }
                return
            }
        }
    }

    // MARK: Flags

    /// The flags that poll(2) reports even if they are not armed.
    private static let endFlags = Int16(POLLHUP | POLLERR | POLLNVAL)

    private static func flags(reads: Bool, writes: Bool) -> Int16 {
        Int16((reads ? POLLIN : 0) | (writes ? POLLOUT : 0))
    }

    private static func readyEvents(_ flags: Int16) -> ReadyEvents {
        var events: ReadyEvents = []
        if flags & Int16(POLLIN) != 0 { events.insert(.readable) }
        if flags & Int16(POLLOUT) != 0 { events.insert(.writable) }
        if flags & endFlags != 0 {
            events.formUnion([.readable, .writable, .inputEnded])
            if flags & Int16(POLLERR | POLLNVAL) != 0 { events.insert(.failed) }
        }
        return events
    }
}

/// Calls poll(2). This function is outside the class, because the class has a function with the same name.
private func pollDescriptors(_ descriptors: inout [pollfd], _ milliseconds: Int32) -> Int32 {
    poll(&descriptors, nfds_t(descriptors.count), milliseconds)
}
