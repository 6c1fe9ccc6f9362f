import CourierCore
public import CourierTransport
public import Foundation
import Synchronization

/// A pair of Foundation streams as a transport, such as the streams of an accessory session or of a serial line.
///
/// ```swift
/// config.endpoint = { _ in
///     let session = accessory.openSession()
///     return .stream(
///         StreamPair(
///             input: session.inputStream, output: session.outputStream, name: "accessory \(accessory.serial)"
///         ) {
///             session.end()
///         })
/// }
/// ```
///
/// On Linux, Foundation's streams need blocking calls, so an open pair has two threads: one reads and one writes.
/// Neither thread blocks the other or the event loop. Only these threads use the streams. They open the streams if the
/// app has not.
///
/// Closing writes the accepted bytes, then closes both streams and ends both threads. If the peer is silent, a blocked
/// call of a stream may never return. So pass a `whenClosed` closure that ends the underlying connection, so that the
/// blocked call returns.
public final class StreamPair: DuplexByteStream {
    /// The number of bytes that may wait in each direction between the event loop and a stream: 64 KiB. When this
    /// number is reached, the producer of bytes must wait.
    public static let capacity = 64 << 10
    /// The largest number of bytes that one call reads.
    private static let readSize = 16 << 10

    private struct State {
        var readiness: StreamReadiness?
        var isClosed = false
        var isWritten = false
        var isReleased = false

        /// Returns `true` if `whenClosed` must be called now: the pair was closed, and all bytes are written or the
        /// connection broke (`isBroken`). Returns `true` at most once.
        mutating func release(isBroken: Bool) -> Bool {
            guard isClosed, isWritten || isBroken, !isReleased else { return false }
            isReleased = true
            return true
        }
    }

    /// The name of the pair in error messages.
    public let name: String

    private let input: NonSendableBox<InputStream>
    private let output: NonSendableBox<OutputStream>
    private let whenClosed: @Sendable () -> Void
    private let incoming = IncomingBytes(capacity: capacity)
    private let outgoing = OutgoingBytes(capacity: capacity)
    private let state = Mutex(State())

    /// Makes a pair that owns the streams. The streams may already be open. The pair closes them at the end. No other
    /// code may use them from now on.
    ///
    /// - Parameters:
    ///   - input: The stream that receives the bytes of the broker.
    ///   - output: The stream that sends bytes to the broker.
    ///   - name: The name of the pair in error messages, `stream pair` by default.
    ///   - whenClosed: Called once, after the connection has ended and all bytes are written. If the connection broke,
    ///     the closure is called at once. The closure runs on the event loop or on a thread of the pair. The closure
    ///     must not block, and should make blocked calls return.
    public init(
        input: InputStream, output: OutputStream, name: String = "stream pair",
        whenClosed: @escaping @Sendable () -> Void = {}
    ) {
        self.input = NonSendableBox(input)
        self.output = NonSendableBox(output)
        self.name = name
        self.whenClosed = whenClosed
    }

    /// Starts the reading thread and the writing thread; see `DuplexByteStream`.
    public func open(_ readiness: StreamReadiness) {
        state.withLock { $0.readiness = readiness }
        let threads = [
            Thread { [self] in input.use(readAll) },
            Thread { [self] in output.use(writeAll) },
        ]
        for (thread, task) in zip(threads, ["reads", "writes"]) {
            thread.name = "courier \(task)"
            thread.start()
        }
    }

    /// Reads bytes that the reading thread has received. Called on the event loop; see `DuplexByteStream`.
    ///
    /// - Throws: The error of the stream that failed.
    public func read(into buffer: inout MutableRawSpan) throws(TransportError) -> StreamRead {
        switch buffer.withUnsafeMutableBytes({ incoming.take(into: $0) }) {
        case .bytes(let count): return .bytes(count)
        case .nothingYet: return .bytesThenWait(0)
        case .end(.ended): return .ended
        case .end(.failed(let error)): throw error
        }
    }

    /// Passes bytes to the writing thread. Called on the event loop; see `DuplexByteStream`.
    ///
    /// - Throws: The error of the output stream if it failed.
    public func write(_ bytes: RawSpan) throws(TransportError) -> StreamWrite {
        let count = try bytes.withUnsafeBytes { source throws(TransportError) in try outgoing.offer(source) }
        return count == bytes.byteCount ? .bytes(count) : .bytesThenWait(count)
    }

    /// Closes the output stream when all bytes are written; see `DuplexByteStream`.
    public func closeOutput() { outgoing.finish(abruptly: false) }

    /// Ends the reading thread and the writing thread; see `DuplexByteStream`. If `abruptly` is `true`, drops the bytes
    /// that wait to be written. The peer cannot distinguish an abrupt end from an orderly one, because Foundation's
    /// streams have only one kind of close.
    public func close(abruptly: Bool) {
        incoming.close()
        outgoing.finish(abruptly: abruptly)
        let releases = state.withLock { state in
            state.readiness = nil
            state.isClosed = true
            return state.release(isBroken: abruptly)
        }
        if releases { whenClosed() }
    }

    // MARK: The reading thread

    private func readAll(_ stream: InputStream) {
        if stream.streamStatus == .notOpen { stream.open() }
        var chunk = [UInt8](repeating: 0, count: Self.readSize)
        while true {
            let count = chunk.withUnsafeMutableBufferPointer { space in
                space.baseAddress.map { stream.read($0, maxLength: space.count) } ?? 0
            }
            guard count > 0 else {
                incoming.finish(count == 0 ? .ended : .failed(StreamFailure.error(of: stream, "reading from", name)))
                break
            }
            guard incoming.put(chunk[..<min(count, chunk.count)]) else { break }
            tellLoop { $0.readable() }
        }
        tellLoop { $0.readable() }
        stream.close()
    }

    // MARK: The writing thread

    private func writeAll(_ stream: OutputStream) {
        BrokenPipeSignal.block()
        if stream.streamStatus == .notOpen { stream.open() }
        var chunk: [UInt8] = []
        while outgoing.next(&chunk) {
            tellLoop { $0.writable() }
            guard write(chunk, to: stream) else {
                let error = StreamFailure.error(of: stream, "writing to", name)
                outgoing.fail(error)
                // A connection cannot continue without output. Report the error through the input, so that the event
                // loop receives the error even if it writes nothing.
                incoming.finish(.failed(error))
                tellLoop { $0.readable() }
                break
            }
        }
        stream.close()
        let releases = state.withLock { state in
            state.isWritten = true
            return state.release(isBroken: false)
        }
        if releases { whenClosed() }
    }

    private func write(_ bytes: [UInt8], to stream: OutputStream) -> Bool {
        bytes.withUnsafeBufferPointer { source in
            guard let start = source.baseAddress else { return true }
            var offset = 0
            while offset < source.count {
                let count = stream.write(start + offset, maxLength: source.count - offset)
                guard count > 0 else { return false }
                offset += count
            }
            return true
        }
    }

    private func tellLoop(_ tell: (StreamReadiness) -> Void) {
        if let readiness = state.withLock({ $0.readiness }) { tell(readiness) }
    }
}
