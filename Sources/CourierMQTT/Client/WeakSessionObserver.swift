import CourierTransport
import MQTTCodec
import MQTTEngine

/// Forwards the calls of a ``SessionDriver`` to its client's coordinator. When the client ends, `target` is set to
/// `nil`, so that the driver and the coordinator do not keep each other alive.
///
/// Safe to share between threads: both properties are used on the loop only.
final class WeakSessionObserver: SessionObserver, @unchecked Sendable {
    /// The coordinator that receives the calls; `nil` after the client has ended.
    var target: ClientCoordinator? { didSet { lent = target.map { Unmanaged.passUnretained($0) } } }

    /// The object in ``target``, without reference counting. The reference is used for calls that occur with every
    /// message.
    ///
    /// Reference counting would take longer than such a call. Swift's reference counting is slow for the coordinator,
    /// because other objects reference the coordinator weakly.
    ///
    /// Safe, because ``target`` keeps the object alive: none of these calls ends a client.
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
