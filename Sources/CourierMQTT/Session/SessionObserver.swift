import CourierCore
import CourierTransport
import MQTTCodec
import MQTTEngine

/// Receives the events of a ``SessionDriver``. The functions are called on the driver's event loop, one at a time, in
/// the order of the events.
protocol SessionObserver: AnyObject, Sendable {
    /// Called when the channel to the broker is open and CONNECT was written.
    func opened()

    /// Called when a message has arrived. The spans are valid during the call only. `properties` contains the encoded
    /// properties.
    func received(_ message: IncomingMessage, topic: RawSpan, payload: RawSpan, properties: RawSpan)

    /// Called when the broker acknowledged or refused messages, with its answers in the order of arrival. Actions of
    /// the engine that follow the answers are reported after this call.
    func answered(_ answers: [OutgoingQueue.Answer])

    /// Called at each step in the delivery of a message. The default implementation converts `progress` to an action,
    /// and calls ``performed(_:)``. An implementation in the observer is several times as fast, because it needs no
    /// conversion.
    func progressed(_ progress: ExchangeProgress)

    /// Called for each engine action that has no function of its own in this protocol; see ``MQTTEngine/EngineAction``.
    /// Received messages and the end of a connection have functions of their own.
    func performed(_ action: EngineAction)

    /// Called after all events of one read were reported.
    func receivedAll()

    /// Called when a glance begins, in which the client reads for a short time although reading is paused. The glance
    /// lasts until reading is paused again or resumed.
    func glanceBegan()

    /// Called after packets were written to the channel. The implementation must be fast.
    func wrote()

    /// Called when all bytes that waited in the channel were sent.
    func drained()

    /// Called after the session driver took messages from the queue, if the client must act on `taken`. For example,
    /// the client must resume callers whose messages have room in the queue now.
    func tookMessages(_ taken: OutgoingQueue.Taken)

    /// Called when the connection has ended, so that another connection may be opened. `reason` comes from the engine.
    /// `cause` is the reason why the channel closed.
    func closed(_ reason: CloseReason, _ cause: ChannelCloseReason)
}

extension SessionObserver {
    func progressed(_ progress: ExchangeProgress) { performed(EngineAction(progress)) }
    func answered(_ answers: [OutgoingQueue.Answer]) {
        for answer in answers { performed(.acknowledged(answer.token, answer.code, [])) }
    }
    func opened() {}
    func wrote() {}
    func drained() {}
    func receivedAll() {}
    func glanceBegan() {}
    func tookMessages(_ taken: OutgoingQueue.Taken) {}
}
