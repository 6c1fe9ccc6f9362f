import Synchronization

/// One end of two connected streams in memory, for tests and for peers in one process.
///
/// What is written at one end is read at the other; up to `capacity` bytes wait in between, then writing waits for the
/// reader. ``DuplexByteStream/close(abruptly:)`` lets the other end read what is left and then the end, or an error if
/// it was abrupt.
public final class MemoryStream: DuplexByteStream {
    /// What this end is called in messages.
    public let name: String

    private let incoming: MemoryPipe
    private let outgoing: MemoryPipe

    private init(name: String, incoming: MemoryPipe, outgoing: MemoryPipe) {
        self.name = name
        self.incoming = incoming
        self.outgoing = outgoing
    }

    /// Two connected ends.
    ///
    /// - Parameters:
    ///   - capacity: How many bytes may wait in each direction, 64 KiB by default.
    ///   - bytesPerCall: How many bytes one read or write moves at most, without limit by default; a small number makes
    ///     a peer that takes a few bytes at a time.
    /// - Returns: The ends, which are alike.
    public static func pair(
        capacity: Int = 64 << 10, bytesPerCall: Int = .max
    ) -> (MemoryStream, MemoryStream) {
        let there = MemoryPipe(capacity: capacity, bytesPerCall: bytesPerCall)
        let back = MemoryPipe(capacity: capacity, bytesPerCall: bytesPerCall)
        return (
            MemoryStream(name: "memory stream A", incoming: back, outgoing: there),
            MemoryStream(name: "memory stream B", incoming: there, outgoing: back)
        )
    }

    /// Begins; see ``DuplexByteStream``.
    public func open(_ readiness: StreamReadiness) {
        incoming.setReader(readiness)
        outgoing.setWriter(readiness)
    }

    /// Reads what the other end has written.
    public func read(into buffer: inout MutableRawSpan) throws(TransportError) -> StreamRead {
        guard let result = buffer.withUnsafeMutableBytes({ incoming.read(into: $0) }) else {
            throw TransportError(.reset, "connection reset: \(name)")
        }
        return result
    }

    /// Writes for the other end to read.
    public func write(_ bytes: RawSpan) throws(TransportError) -> StreamWrite {
        guard let result = bytes.withUnsafeBytes({ outgoing.write($0) }) else {
            throw TransportError(.brokenPipe, "connection closed: \(name) no longer reads")
        }
        return result
    }

    /// Lets the other end read the end.
    public func closeOutput() { outgoing.closeByWriter(abruptly: false) }

    /// Closes both directions.
    public func close(abruptly: Bool) {
        outgoing.closeByWriter(abruptly: abruptly)
        incoming.closeByReader()
    }
}

/// One direction between two ends of a ``MemoryStream``.
private final class MemoryPipe: Sendable {
    private enum End { case open, ended, broken }

    private struct State: ~Copyable, Sendable {
        var bytes = ByteQueue()
        var end = End.open
        var hasReader = true
        var reader: StreamReadiness?
        var writer: StreamReadiness?
    }

    private let state = Mutex(State())
    private let capacity: Int
    private let bytesPerCall: Int

    init(capacity: Int, bytesPerCall: Int) {
        self.capacity = max(1, capacity)
        self.bytesPerCall = max(1, bytesPerCall)
    }

    func setReader(_ readiness: StreamReadiness) { state.withLock { $0.reader = readiness } }
    func setWriter(_ readiness: StreamReadiness) { state.withLock { $0.writer = readiness } }

    /// `nil` when the writer broke the connection.
    func read(into space: UnsafeMutableRawBufferPointer) -> StreamRead? {
        // Safe: used inside this call only. The writer is told outside of the lock.
        nonisolated(unsafe) let space = space
        let (result, told) = state.withLock { state -> (StreamRead?, StreamReadiness?) in
            switch state.end {
            case .broken: return (nil, nil)
            case .ended where state.bytes.isEmpty: return (.ended, nil)
            case .open, .ended: break
            }
            let count = min(state.bytes.count, space.count, bytesPerCall)
            guard count > 0 else { return (.bytesThenWait(0), nil) }
            let wasFull = state.bytes.count >= capacity
            space.copyMemory(from: UnsafeRawBufferPointer(rebasing: state.bytes.contents[..<count]))
            state.bytes.removeFirst(count)
            return (.bytes(count), wasFull ? state.writer : nil)
        }
        told?.writable()
        return result
    }

    /// `nil` when nobody reads any more.
    func write(_ source: UnsafeRawBufferPointer) -> StreamWrite? {
        // Safe: used inside this call only. The reader is told outside of the lock.
        nonisolated(unsafe) let source = source
        let (result, told) = state.withLock { state -> (StreamWrite?, StreamReadiness?) in
            guard state.hasReader, state.end == .open else { return (nil, nil) }
            let count = min(source.count, capacity - state.bytes.count, bytesPerCall)
            guard count > 0 else { return (.bytesThenWait(0), nil) }
            let wasEmpty = state.bytes.isEmpty
            state.bytes.append(UnsafeRawBufferPointer(rebasing: source[..<count]))
            return (.bytes(count), wasEmpty ? state.reader : nil)
        }
        told?.readable()
        return result
    }

    func closeByWriter(abruptly: Bool) {
        let reader = state.withLock { state in
            if state.end == .open { state.end = abruptly ? .broken : .ended }
            state.writer = nil
            return state.reader
        }
        reader?.readable()
    }

    func closeByReader() {
        let writer = state.withLock { state in
            state.hasReader = false
            state.bytes.removeAll()
            state.reader = nil
            return state.writer
        }
        writer?.writable()
    }
}
