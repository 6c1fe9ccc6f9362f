package import CourierTransport

/// A client's channel and a broker's, each of which gets what the other reads. The owner of each is a ``LinkSide``.
///
/// All of it happens on the loop where both channels live.
package protocol TwoSidedLink: AnyObject, Sendable {
    /// The client's channel or the broker's; `nil` once it is closed.
    func channel(ofClient isClient: Bool) -> ByteChannel?
    /// Bytes have come from one side.
    func received(_ bytes: RawSpan, fromClient isFromClient: Bool)
    /// One side is gone.
    func closed(client isClient: Bool, _ reason: ChannelCloseReason)
}

extension TwoSidedLink {
    /// Writes to the other side, and reads no more from this one while too much waits there.
    package func forward(_ bytes: RawSpan, fromClient isFromClient: Bool) {
        guard let target = channel(ofClient: !isFromClient) else { return }
        target.write(bytes)
        if target.isAboveHighWater { channel(ofClient: isFromClient)?.pauseReading() }
    }
}
