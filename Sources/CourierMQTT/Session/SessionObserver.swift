import CourierCore
import CourierTransport
import MQTTCodec
import MQTTEngine

/// Receives the events of a ``SessionDriver``: on its loop, one call at a time, in order.
protocol SessionObserver: AnyObject, Sendable {
    /// The way to the peer is open, and CONNECT was written.
    func opened()

    /// A message has arrived. The spans are valid during the call only; `properties` are encoded.
    func received(_ message: IncomingMessage, topic: RawSpan, payload: RawSpan, properties: RawSpan)

    /// The broker answered messages, in this order. Comes before any action that follows the answers.
    func answered(_ answers: [OutgoingQueue.Answer])

    /// A step in the delivery of a message. The default calls ``performed(_:)``, which costs several times as much.
    func progressed(_ progress: ExchangeProgress)

    /// Something else happened; see ``MQTTEngine/EngineAction``. Messages and the end of a connection come by the other
    /// functions.
    func performed(_ action: EngineAction)

    /// All events of one read were reported.
    func receivedAll()

    /// Reading, which was paused, continues for a glance: until it is paused once more, or resumed for good.
    func glanceBegan()

    /// Packets were written to the way to the peer. Must do little.
    func wrote()

    /// The peer took all bytes that had to wait.
    func drained()

    /// The session took messages from the queue. `taken` has the work for the client.
    func tookMessages(_ taken: OutgoingQueue.Taken)

    /// The connection has ended, and another may be opened. `cause` says what the way to the peer had to do with it.
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
