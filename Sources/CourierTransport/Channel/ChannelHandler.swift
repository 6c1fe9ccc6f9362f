/// Receives the events of a ``ByteChannel``, as its owner.
///
/// The channel calls all functions on its loop, one at a time, and never from inside a call of the owner to the
/// channel. ``closed(_:)`` is called exactly once and is the last call.
public protocol ChannelHandler: AnyObject, Sendable {
    /// Called when the connection is ready, including TLS and WebSocket. From now on, bytes can be written.
    func opened(_ channel: ByteChannel)

    /// Called with received bytes. Returns the number of consumed bytes, counted from the first.
    ///
    /// The channel keeps the remaining bytes. It offers them again before new bytes, or when reading resumes after a
    /// pause. The span is valid during the call only.
    func received(_ bytes: RawSpan) -> Int

    /// Called after all bytes that can be read now were delivered. Respond here with one write for all these bytes. If
    /// the connection ended directly after these bytes, the response may be lost.
    ///
    /// Also called after a WebSocket Ping, although no bytes were delivered, because the Ping shows that the peer is
    /// alive.
    func readBatchEnded()

    /// Called when some bytes had to wait for the peer, and all of them are now written.
    func drained()

    /// Called when ``ByteChannel/isAboveHighWater`` is `false` again, because waiting bytes were written.
    func fellBelowLowWater()

    /// Called when the peer has ended its output in an orderly way. The peer sends no more, but may still read.
    ///
    /// The channel closes after this call, unless ``ChannelOptions/staysOpenAfterInputClosed`` is `true`.
    func inputClosed()

    /// Called when the channel has closed. Bytes that were not written are lost. An orderly close by the owner writes
    /// all bytes first, unless the peer stops reading.
    func closed(_ reason: ChannelCloseReason)
}

extension ChannelHandler {
    /// The default implementation does nothing.
    public func opened(_ channel: ByteChannel) {}
    /// The default implementation does nothing.
    public func readBatchEnded() {}
    /// The default implementation does nothing.
    public func drained() {}
    /// The default implementation does nothing.
    public func fellBelowLowWater() {}
    /// The default implementation does nothing.
    public func inputClosed() {}
}

/// The reason why a ``ByteChannel`` has closed.
public enum ChannelCloseReason: Hashable, Sendable {
    /// The owner closed or aborted the channel.
    case closedByOwner
    /// The peer ended the connection in an orderly way.
    case closedByPeer
    /// The connection could not be opened, or it failed.
    case failed(TransportError)
}
