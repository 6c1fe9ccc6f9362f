import CourierTransport
import Testing

@testable import CourierMQTT

/// Which ends of a connection, instead of CONNACK, may mean that the broker does not know MQTT 5.
@Suite struct SilentEndTests {
    @Test(arguments: [TransportError.Code.reset, .truncated, .webSocketClosed])
    func `an end with no reason of MQTT may mean that the version is not known`(_ code: TransportError.Code) {
        #expect(ChannelCloseReason.failed(TransportError(code, "gone")).isSilent)
        #expect(ChannelCloseReason.closedByPeer.isSilent)
    }

    @Test(arguments: [
        TransportError.Code.connectionRefused, .connectTimedOut, .tlsHandshakeFailed, .webSocketRefused, .proxyRefused,
    ])
    func `what kept the connection from standing says nothing about the version`(_ code: TransportError.Code) {
        #expect(!ChannelCloseReason.failed(TransportError(code, "never there")).isSilent)
        #expect(!ChannelCloseReason.closedByOwner.isSilent)
    }
}
