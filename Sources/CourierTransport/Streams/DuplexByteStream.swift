/// A stream of bytes in both directions, which a ``ByteChannel`` reads and writes.
///
/// The transport has its own streams for sockets and descriptors. Conform a type of your own to use another medium,
/// such as an accessory session or a serial line. The channel calls every function on its event loop, and no function
/// may block. If a read or write must wait, the stream returns `bytesThenWait`. When the stream is ready again, it
/// reports this once to the ``StreamReadiness`` that it received in ``open(_:)``. A read or write may transfer fewer
/// bytes than requested. In the example below, `session` is the app's own session with an accessory.
///
/// ```swift
/// final class Accessory: DuplexByteStream { … }
/// func read(into buffer: inout MutableRawSpan) -> StreamRead {
///     let count = session.read(into: &buffer)
///     return count > 0 ? .bytes(count) : .bytesThenWait(0)  // readiness.readable() follows when more has come
/// }
/// ```
public protocol DuplexByteStream: AnyObject, Sendable {
    /// The name of the stream in error messages, such as `serial line /dev/ttyS0`.
    var name: String { get }

    /// Called once when the channel starts to use the stream. Store `readiness`. Its functions may be called from any
    /// thread. The channel assumes at first that the stream is readable and writable.
    ///
    /// - Throws: An error if the stream cannot be used. The channel then closes and does not call ``close(abruptly:)``.
    func open(_ readiness: StreamReadiness) throws(TransportError)

    /// Reads received bytes into `buffer`, which is not empty.
    ///
    /// - Throws: An error if the stream failed. Afterwards the channel calls only ``close(abruptly:)``.
    func read(into buffer: inout MutableRawSpan) throws(TransportError) -> StreamRead

    /// Writes as many of `bytes` as possible without waiting. `bytes` is not empty.
    ///
    /// - Throws: An error if the stream failed. Afterwards the channel calls only ``close(abruptly:)``.
    func write(_ bytes: RawSpan) throws(TransportError) -> StreamWrite

    /// Ends the output, so that the peer reads the end of the stream. Reading continues. If a stream cannot close one
    /// direction alone, the function does nothing.
    func closeOutput()

    /// Called once when the channel stops using the stream. The stream releases its resources and no longer calls its
    /// readiness.
    ///
    /// - Parameter abruptly: `true` if the peer should see a broken connection instead of an orderly end. A stream that
    ///   cannot signal the difference ignores the parameter.
    func close(abruptly: Bool)
}

/// The result of a read from a ``DuplexByteStream``.
public enum StreamRead: Equatable, Sendable {
    /// The number of bytes read, at least 1. More bytes may be available, so the channel reads again.
    case bytes(Int)
    /// The number of bytes read, possibly 0. No more bytes are available now. The channel reads again after
    /// ``StreamReadiness/readable()``.
    case bytesThenWait(Int)
    /// The peer has ended its output in an orderly way.
    case ended
}

/// The result of a write to a ``DuplexByteStream``.
public enum StreamWrite: Equatable, Sendable {
    /// The number of bytes written, at least 1. The stream may accept more bytes, so the channel writes again.
    case bytes(Int)
    /// The number of bytes written, possibly 0. The stream accepts no more bytes now. The channel writes again after
    /// ``StreamReadiness/writable()``.
    case bytesThenWait(Int)
}
