package import CourierTransport

/// A link of two channels, to a client and to a broker. Each channel sends the bytes that the other one reads. The
/// handler of each channel is a ``LinkSide``.
///
/// All methods are called on the loop of both channels.
package protocol TwoSidedLink: AnyObject, Sendable {
    /// Returns the client's or the broker's channel; `nil` if it is closed.
    func channel(ofClient isClient: Bool) -> ByteChannel?
    /// Handles bytes that one side sent.
    func received(_ bytes: RawSpan, fromClient isFromClient: Bool)
    /// Handles the end of one side's channel.
    func closed(client isClient: Bool, _ reason: ChannelCloseReason)
}

extension TwoSidedLink {
    /// Writes bytes to the other side. If too many bytes wait there, pauses reading from this side.
    package func forward(_ bytes: RawSpan, fromClient isFromClient: Bool) {
        guard let target = channel(ofClient: !isFromClient) else { return }
        target.write(bytes)
        if target.isAboveHighWater { channel(ofClient: isFromClient)?.pauseReading() }
    }
}
