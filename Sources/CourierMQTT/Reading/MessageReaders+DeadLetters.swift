import CourierCore
import CourierTransport
import Synchronization

/// Reports messages that a reader could not use.
extension MessageReaders {
    /// A publisher of dead letters: messages that a reader could not use. The publisher sends them on the delivery
    /// queue.
    var deadLetterPublisher: AnyPublisher<DeadLetter, Never> {
        let buffer = BufferPolicy(
            limit: BufferPolicy.queue.limit, onDrop: { [weak self] in self?.tellOfDroppedLetters() })
        return deadLetters.part { DeadLetterSubject() }.publisher.receive(on: deliveryQueue, buffer: buffer)
    }

    private func tellOfDroppedLetters() {
        tellLog("Dead letters are dropped, because the readers of deadLetters are too slow.")
    }

    /// Reports that a reader could not use a message.
    func report(_ message: ReceivedMessage, _ error: any Error) { report(message.message(), error) }

    /// Reports that a reader could not use a message.
    func report(_ message: Message, _ error: any Error) {
        let error =
            (error as? CourierError)
            ?? CourierError(
                .decodingFailed, "A message on \(message.topic.quoted()) could not be decoded.", cause: error)
        let letters = deadLetters.withLock { $0 }.flatMap { $0.isListenedTo ? $0 : nil }
        if letters == nil, !events.isHeard {
            return tellLog(
                "A message on \(message.topic.quoted()) could not be used, "
                    + "and nothing listens to deadLetters or to events: \(error)")
        }
        letters?.send(DeadLetter(message: message.detached(), error: error))
        tellFailure(of: message, error)
    }

    /// Reports that a request got no response, because its handler or the publish of the response failed.
    func reportUnanswered(_ request: Message, _ error: any Error) {
        guard !events.isHeard else { return tellFailure(of: request, error) }
        tellLog(
            "A request on \(request.topic.quoted()) got no response, and nothing listens to events: "
                + CourierError.summary(of: error))
    }

    /// Logs that a message could not be used. Drops the line if another such line is already scheduled.
    private func tellLog(_ makeText: @autoclosure () -> String) {
        guard !isWarning.exchange(true, ordering: .relaxed) else { return }
        let text = makeText()
        loop.execute { [self] in
            distributor.warnOfUndecodable(text)
            isWarning.store(false, ordering: .relaxed)
        }
    }

    /// Reports, as an event, that a message could not be used.
    private func tellFailure(of message: Message, _ error: any Error) {
        events.tell(
            .messageReceiveFailure(topic: message.topic, error: error, sizeBytes: message.byteCount),
            options.withLock { $0 })
    }
}
