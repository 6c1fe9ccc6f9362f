import CourierTransport
import MQTTCodec
import MQTTEngine

/// Stands between a ``SessionDriver`` and the client that it serves, so that the two do not keep each other alive.
///
/// Safe to share: `target` is touched on the loop only, where the driver calls and the client ends.
final class SessionRelay: SessionObserver, @unchecked Sendable {
    /// The client's side.
    protocol Target: AnyObject {
        func received(_ message: IncomingMessage, topic: RawSpan, payload: RawSpan, properties: PacketProperties)
        func progressed(_ progress: ExchangeProgress)
        func performed(_ action: EngineAction)
        func receivedAll()
        func wrote()
        func outboxDrained()
        func opened()
        func closed(_ reason: CloseReason, _ cause: ChannelCloseReason)
    }

    var target: (any Target)?

    init() {}

    func opened() { target?.opened() }

    func received(_ message: IncomingMessage, topic: RawSpan, payload: RawSpan, properties: PacketProperties) {
        target?.received(message, topic: topic, payload: payload, properties: properties)
    }

    func progressed(_ progress: ExchangeProgress) { target?.progressed(progress) }
    func performed(_ action: EngineAction) { target?.performed(action) }
    func receivedAll() { target?.receivedAll() }
    func wrote() { target?.wrote() }
    func outboxDrained() { target?.outboxDrained() }
    func closed(_ reason: CloseReason, _ cause: ChannelCloseReason) { target?.closed(reason, cause) }
}
