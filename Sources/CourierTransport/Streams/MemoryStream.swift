import Synchronization

/// One end of two connected streams in memory, for tests and for peers in one process.
///
/// Bytes written at one end are read at the other end. If `capacity` bytes already wait in one direction, a write in
/// this direction waits until the other end has read. After ``DuplexByteStream/close(abruptly:)`` with `false`, the
/// other end reads the remaining bytes and then the end of the stream. With `true`, the other end gets an error.
public final class MemoryStream: DuplexByteStream {
    /// The name of this end in error messages.
    public let name: String

    private let incoming: MemoryPipe
    private let outgoing: MemoryPipe

    private init(name: String, incoming: MemoryPipe, outgoing: MemoryPipe) {
        self.name = name
        self.incoming = incoming
        self.outgoing = outgoing
    }

    /// Creates two connected streams: the two ends of one connection in memory.
    ///
    /// - Parameters:
    ///   - capacity: The maximum number of bytes that wait in each direction, 64 KiB by default.
    ///   - bytesPerCall: The maximum number of bytes that one read or write transfers, without limit by default. A
    ///     small number simulates a peer that transfers a few bytes at a time.
    /// - Returns: The two ends, which behave in the same way.
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

    /// Stores `readiness`, which is notified when this end can be read or written again; see ``DuplexByteStream``.
    public func open(_ readiness: StreamReadiness) {
        incoming.setReader(readiness)
        outgoing.setWriter(readiness)
    }

    /// Reads bytes that the other end has written.
    public func read(into buffer: inout MutableRawSpan) throws(TransportError) -> StreamRead {
        guard let result = buffer.withUnsafeMutableBytes({ incoming.read(into: $0) }) else {
            throw TransportError(.reset, "connection reset: \(name)")
        }
        return result
    }

    /// Writes bytes, which the other end can then read.
    public func write(_ bytes: RawSpan) throws(TransportError) -> StreamWrite {
        guard let result = bytes.withUnsafeBytes({ outgoing.write($0) }) else {
            throw TransportError(.brokenPipe, "connection closed: \(name) no longer reads")
        }
        return result
    }

    /// Ends the output. The other end can still read the remaining bytes, and then reads the end of the stream.
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

    /// Reads waiting bytes; returns `nil` if the writer closed abruptly.
    func read(into space: UnsafeMutableRawBufferPointer) -> StreamRead? {
        // Safe: `space` is used inside this call only. The writer's readiness is called outside the lock.
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

    /// Adds bytes for the reader; returns `nil` if the reader or the writer has closed.
    func write(_ source: UnsafeRawBufferPointer) -> StreamWrite? {
        // Safe: `source` is used inside this call only. The reader's readiness is called outside the lock.
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
