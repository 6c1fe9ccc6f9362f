/// A stream over a socket, a pair of pipes, or other descriptors that can report readiness.
///
/// Safe to share: after `init`, only the loop uses the stream.
final class DescriptorStream: DuplexByteStream, Selectable, @unchecked Sendable {
    let name: String

    private let reading: Int32
    private let writing: Int32
    /// True if both descriptors are the same socket. Only then do writes raise no SIGPIPE.
    let isSocket: Bool
    private let calls: SystemCalls
    private var readiness: StreamReadiness?
    private var readRegistration: Selector.Registration?
    /// The registration of the descriptor `writing`; `nil` if `reading` is the same descriptor.
    private var writeRegistration: Selector.Registration?
    private var writeTarget: WriteTarget?
    private var isWaitingToWrite = false
    /// The selector, if it reports further input only after a call of `rearm`; otherwise `nil`.
    private var rearmedSelector: Selector?
    /// True after the end of the input or an error was reported. The selector does not repeat this report. So even
    /// after a short read, the stream must not wait for another event.
    private var hasEndBeenAnnounced = false

    /// Takes ownership of the descriptors. `reading` and `writing` may be the same descriptor.
    init(reading: Int32, writing: Int32, name: String, calls: SystemCalls = .real) {
        self.reading = reading
        self.writing = writing
        self.name = name
        self.calls = calls
        isSocket = reading == writing && Sockets.isSocket(reading)
    }

    func open(_ readiness: StreamReadiness) throws(TransportError) {
        do throws(TransportError) {
            for descriptor in [reading, writing] {
                let result = Sockets.setNonblocking(descriptor)
                if result < 0 { throw TransportError.system(-result, name) }
            }
            if isSocket { Sockets.preventSignal(writing) }
            let selector = readiness.loop.selector
            if selector.needsRearming { rearmedSelector = selector }
            if reading == writing {
                readRegistration = try register(reading, reads: true, writes: false, self, selector)
            } else {
                readRegistration = try register(reading, reads: true, writes: false, self, selector)
                let target = WriteTarget(self)
                writeTarget = target
                writeRegistration = try register(writing, reads: false, writes: false, target, selector)
            }
        } catch {
            self.readiness = readiness
            close(abruptly: false)
            throw error
        }
        self.readiness = readiness
    }

    private func register(
        _ descriptor: Int32, reads: Bool, writes: Bool, _ target: any Selectable, _ selector: Selector
    ) throws(TransportError) -> Selector.Registration {
        do throws(TransportError) {
            return try selector.register(descriptor, reads: reads, writes: writes, target)
        } catch {
            guard error.errno == ErrorNumber.notPermitted else { throw error }
            throw TransportError(
                .invalidDescriptor, "\(name) cannot report readiness; a regular file cannot be used",
                errno: error.errno)
        }
    }

    func read(into buffer: inout MutableRawSpan) throws(TransportError) -> StreamRead {
        let capacity = buffer.byteCount
        let result = buffer.withUnsafeMutableBytes { space -> Int in
            guard let base = space.baseAddress else { return 0 }
            while true {
                let result = (isSocket ? calls.receive : calls.read)(reading, base, space.count)
                if result != -Int(ErrorNumber.interrupted) { return result }
            }
        }
        if result > 0 {
            // After a short read, a socket is empty, but a terminal may hold another line. If the end of the input was
            // already reported, the stream must continue to read, because no further event follows.
            let isEmptied = isSocket && calls.shortReadsEmptySockets && result < capacity && !hasEndBeenAnnounced
            return isEmptied ? readThenWait(result) : .bytes(result)
        }
        if result == 0 { return .ended }
        if result == -Int(ErrorNumber.again) { return readThenWait(0) }
        throw TransportError.system(Int32(-result), name)
    }

    /// Returns the result of a read that has read all available input. Rearms the selector if it needs rearming.
    private func readThenWait(_ count: Int) -> StreamRead {
        if let rearmedSelector { rearmedSelector.rearm(readRegistration, .readable) }
        return .bytesThenWait(count)
    }

    func write(_ bytes: RawSpan) throws(TransportError) -> StreamWrite {
        let count = bytes.byteCount
        let result = bytes.withUnsafeBytes { source -> Int in
            guard let base = source.baseAddress else { return 0 }
            while true {
                let result = (isSocket ? calls.send : calls.write)(writing, base, source.count)
                if result != -Int(ErrorNumber.interrupted) { return result }
            }
        }
        if result == count { return .bytes(result) }
        if result >= 0 || result == -Int(ErrorNumber.again) {
            waitToWrite(true)
            return .bytesThenWait(max(0, result))
        }
        throw TransportError.system(Int32(-result), name)
    }

    func closeOutput() {
        if isSocket {
            Sockets.closeOutput(writing)
        } else if reading != writing, let readiness, let registration = writeRegistration {
            // The reader of a pipe sees the end only when the descriptor is closed. `isOutputClosed` ensures that this
            // stream does not use the number of the closed descriptor again.
            readiness.loop.selector.remove(registration)
            writeRegistration = nil
            Sockets.close(writing)
            isOutputClosed = true
        }
    }

    private var isOutputClosed = false

    func close(abruptly: Bool) {
        if let selector = readiness?.loop.selector {
            if let readRegistration { selector.remove(readRegistration) }
            if let writeRegistration { selector.remove(writeRegistration) }
        }
        readRegistration = nil
        writeRegistration = nil
        writeTarget = nil
        rearmedSelector = nil
        readiness = nil
        if abruptly, isSocket { Sockets.resetOnClose(reading) }
        Sockets.close(reading)
        if writing != reading, !isOutputClosed { Sockets.close(writing) }
    }

    /// Turns events for free write space on or off. These events are on only while the stream waits for space. If they
    /// were always on, each acknowledged segment would cause an event.
    private func waitToWrite(_ waits: Bool) {
        guard waits != isWaitingToWrite || waits else { return }
        isWaitingToWrite = waits
        guard let selector = readiness?.loop.selector else { return }
        if let writeRegistration {
            selector.modify(writeRegistration, reads: false, writes: waits)
        } else if let readRegistration {
            selector.modify(readRegistration, reads: true, writes: waits)
        }
    }

    // MARK: Events

    func ready(_ events: ReadyEvents) {
        guard let readiness else { return }
        if events.contains(.inputEnded) { hasEndBeenAnnounced = true }
        let wantsWritable = isWaitingToWrite && reading == writing && events.contains(.writable)
        if wantsWritable { waitToWrite(false) }
        if events.contains(.failed), isSocket {
            readiness.broke { [reading, name] in TransportError.system(Sockets.pendingError(reading), name) }
        }
        readiness.ready(readable: events.contains(.readable), writable: wantsWritable)
    }

    /// Receives the events of the write descriptor, if it differs from the read descriptor.
    private final class WriteTarget: Selectable {
        private unowned let stream: DescriptorStream
        init(_ stream: DescriptorStream) { self.stream = stream }
        func ready(_ events: ReadyEvents) { stream.writingReady(events) }
    }

    private func writingReady(_ events: ReadyEvents) {
        // This event means that the pipe has no reader any more.
        if events.contains(.failed) { readiness?.outputBroke(TransportError.system(ErrorNumber.brokenPipe, name)) }
        guard isWaitingToWrite else { return }
        waitToWrite(false)
        readiness?.ready(readable: false, writable: true)
    }
}
