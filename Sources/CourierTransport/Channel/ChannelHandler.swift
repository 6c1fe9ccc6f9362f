/// The owner of a ``ByteChannel``, told what happens to it.
///
/// All functions are called on the channel's loop, one at a time, and never from inside one of the owner's own calls to
/// the channel. ``closed(_:)`` is called exactly once, and nothing after it.
public protocol ChannelHandler: AnyObject, Sendable {
    /// The connection is there, TLS included: bytes can be written.
    func opened(_ channel: ByteChannel)

    /// Bytes have come. Returns how many of them were consumed, counted from the first.
    ///
    /// The rest is kept and offered again, in front, as soon as more has come, or when reading resumes after a pause.
    /// The span is valid during the call only.
    func received(_ bytes: RawSpan) -> Int

    /// All that could be read for now has been handed over: the moment to answer it by one write. The answer comes to
    /// nothing where the end of the connection stood right behind it.
    ///
    /// The Ping of a WebSocket hands nothing over, and is told like this as well: it shows that the peer is there.
    func readBatchEnded()

    /// Everything that had to wait for the peer has been written.
    func drained()

    /// So much has been written that ``ByteChannel/isAboveHighWater`` turned `false` again.
    func fellBelowLowWater()

    /// The peer has ended its output in an orderly way and will send no more; it may still read.
    ///
    /// The channel closes after this call, see ``ChannelOptions/staysOpenAfterInputClosed``.
    func inputClosed()

    /// The channel is gone. What had not been written yet is lost, except after ``ChannelCloseReason/closedByOwner``
    /// following an orderly close.
    func closed(_ reason: ChannelCloseReason)
}

extension ChannelHandler {
    /// Does nothing.
    public func opened(_ channel: ByteChannel) {}
    /// Does nothing.
    public func readBatchEnded() {}
    /// Does nothing.
    public func drained() {}
    /// Does nothing.
    public func fellBelowLowWater() {}
    /// Does nothing.
    public func inputClosed() {}
}

/// Why a ``ByteChannel`` is gone.
public enum ChannelCloseReason: Hashable, Sendable {
    /// The owner closed it, in whichever way.
    case closedByOwner
    /// The peer ended the connection in an orderly way.
    case closedByPeer
    /// It could not be opened, or it broke.
    case failed(TransportError)
}
