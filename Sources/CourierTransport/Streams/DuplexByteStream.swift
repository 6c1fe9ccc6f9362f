/// Bytes in both directions: what a ``ByteChannel`` reads and writes.
///
/// Sockets and descriptors come with the transport. Conform a type of your own to run over anything else, such as an
/// accessory session or a serial line. The channel calls every function on its event loop, and none may block: what
/// cannot be done now is answered by `bytesThenWait`, and when it can be done again the stream says so, once, through
/// the ``StreamReadiness`` that ``open(_:)`` gave it. Short reads and short writes are normal.
///
/// ```swift
/// final class Accessory: DuplexByteStream { … }
/// func read(into buffer: inout MutableRawSpan) -> StreamRead {
///     let count = session.read(into: &buffer)
///     return count > 0 ? .bytes(count) : .bytesThenWait(0)  // readiness.readable() follows when more has come
/// }
/// ```
public protocol DuplexByteStream: AnyObject, Sendable {
    /// What this stream is, for messages, such as `serial line /dev/ttyS0`.
    var name: String { get }

    /// The channel begins. Keep `readiness` and use it from any thread; the stream counts as readable and writable at
    /// first.
    ///
    /// - Throws: Why the stream cannot be used; the channel then closes, and ``close(abruptly:)`` is not called.
    func open(_ readiness: StreamReadiness) throws(TransportError)

    /// Moves bytes that have come into `buffer`, which is not empty.
    ///
    /// - Throws: Why the stream broke. No call but ``close(abruptly:)`` follows.
    func read(into buffer: inout MutableRawSpan) throws(TransportError) -> StreamRead

    /// Takes as many of `bytes`, which are not empty, as go without waiting.
    ///
    /// - Throws: Why the stream broke. No call but ``close(abruptly:)`` follows.
    func write(_ bytes: RawSpan) throws(TransportError) -> StreamWrite

    /// No more will be written: lets the peer read the end, while reading continues. A stream that cannot close one
    /// direction alone does nothing.
    func closeOutput()

    /// The channel is done. Called once; the stream lets everything go and calls its readiness no more.
    ///
    /// - Parameter abruptly: Whether the peer should see a broken connection rather than an orderly end, where the two
    ///   can be told apart.
    func close(abruptly: Bool)
}

/// What a read from a ``DuplexByteStream`` brought.
public enum StreamRead: Equatable, Sendable {
    /// So many bytes, at least one, and there may be more: it is asked again.
    case bytes(Int)
    /// So many bytes, maybe none, and no more for now: it is asked again after ``StreamReadiness/readable()``.
    case bytesThenWait(Int)
    /// The peer has ended its output in an orderly way.
    case ended
}

/// What a ``DuplexByteStream`` took of what was to be written.
public enum StreamWrite: Equatable, Sendable {
    /// So many bytes, at least one, and it may take more: it is asked again.
    case bytes(Int)
    /// So many bytes, maybe none, and no more for now: it is asked again after ``StreamReadiness/writable()``.
    case bytesThenWait(Int)
}
