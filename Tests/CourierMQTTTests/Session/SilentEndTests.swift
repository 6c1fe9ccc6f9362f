import CourierTransport
import Testing

@testable import CourierMQTT

/// Closes of a connection before CONNACK. Some of them may mean that the broker does not support MQTT 5.
@Suite struct SilentEndTests {
    @Test(arguments: [TransportError.Code.reset, .truncated, .webSocketClosed])
    func `a connection that ends without a reason may mean that the broker does not support the MQTT version`(
        _ code: TransportError.Code
    ) {
        #expect(ChannelCloseReason.failed(TransportError(code, "gone")).isSilent)
        #expect(ChannelCloseReason.closedByPeer.isSilent)
    }

    @Test(arguments: [
        TransportError.Code.connectionRefused, .connectTimedOut, .tlsHandshakeFailed, .webSocketRefused, .proxyRefused,
    ])
    func `a failure to open the connection says nothing about the MQTT versions of the broker`(
        _ code: TransportError.Code
    ) {
        #expect(!ChannelCloseReason.failed(TransportError(code, "never there")).isSilent)
        #expect(!ChannelCloseReason.closedByOwner.isSilent)
    }
}
