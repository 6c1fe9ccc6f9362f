import CourierTransport
import MQTTCodec
import MQTTEngine

/// Forwards from a ``SessionDriver`` to its client, so that the two do not keep each other alive.
///
/// Safe to share: both properties are touched on the loop only, where the driver calls and the client ends.
final class WeakSessionObserver: SessionObserver, @unchecked Sendable {
    /// The client's side.
    var target: ClientCoordinator? { didSet { lent = target.map { Unmanaged.passUnretained($0) } } }

    /// The same object without reference counting, for calls with every message. The coordinator has weak references, and
    /// counting such an object costs more than the call.
    ///
    /// Safe, because ``target`` keeps the object during these calls: none of them ends a client.
    private var lent: Unmanaged<ClientCoordinator>?

    init() {}

    func received(_ message: IncomingMessage, topic: RawSpan, payload: RawSpan, properties: RawSpan) {
        lent?._withUnsafeGuaranteedRef {
            $0.received(message, topic: topic, payload: payload, properties: properties)
        }
    }

    func progressed(_ progress: ExchangeProgress) { lent?._withUnsafeGuaranteedRef { $0.progressed(progress) } }

    func answered(_ answers: [OutgoingQueue.Answer]) { lent?._withUnsafeGuaranteedRef { $0.answered(answers) } }

    func opened() { target?.opened() }
    func performed(_ action: EngineAction) { target?.performed(action) }
    func receivedAll() { target?.receivedAll() }
    func glanceBegan() { target?.readingChanged(isPaused: false) }
    func wrote() { target?.wrote() }
    func drained() { target?.drained() }
    func tookMessages(_ taken: OutgoingQueue.Taken) { target?.tookMessages(taken) }
    func closed(_ reason: CloseReason, _ cause: ChannelCloseReason) { target?.closed(reason, cause) }
}
