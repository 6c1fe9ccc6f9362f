package import CourierTransport

/// The handler of one of the two channels of a link. It keeps the link alive until its channel is closed.
package final class LinkSide: ChannelHandler {
    private let link: any TwoSidedLink
    private let isClient: Bool

    package init(_ link: any TwoSidedLink, isClient: Bool) {
        self.link = link
        self.isClient = isClient
    }

    package func received(_ bytes: RawSpan) -> Int {
        link.received(bytes, fromClient: isClient)
        return bytes.byteCount
    }

    package func fellBelowLowWater() { link.channel(ofClient: !isClient)?.resumeReading() }
    package func closed(_ reason: ChannelCloseReason) { link.closed(client: isClient, reason) }
}
