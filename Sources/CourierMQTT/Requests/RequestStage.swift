import CourierCore

/// How far a question has come, and with it what is to be said when its time is over.
enum RequestStage: Equatable, Sendable {
    /// It waits for a connection.
    case connecting
    /// It waits until the broker has granted the topic for its answer.
    case subscribing
    /// It is handed over; the broker's acknowledgement is missing.
    case sending
    /// The broker has it, and said this.
    case asked(ReasonCode)

    /// Says that no answer came in time, and what was missing.
    ///
    /// - Parameters:
    ///   - topic: Where it was to be asked.
    ///   - timeout: How long it had.
    ///   - failure: Why there is no connection, if there is none.
    /// - Returns: The error for who has asked.
    func error(topic: String, timeout: Duration, failure: CourierError?) -> CourierError {
        let question = "the question to \(topic.quoted())"
        let noAnswer = "No answer to \(question) came in \(timeout)"
        switch self {
        case .connecting:
            return CourierError(
                .timedOut, "There was no connection for \(timeout); \(question) was not sent.", cause: failure)
        case .subscribing:
            return CourierError(
                .timedOut,
                "\(noAnswer); it was not sent, because the broker has not granted the subscription for the answer.",
                cause: failure)
        case .sending:
            return CourierError(
                .timedOut, "\(noAnswer); the broker has not acknowledged the question, and may not have it.",
                cause: failure)
        case .asked(.noMatchingSubscribers):
            return CourierError(
                .timedOut, "\(noAnswer); the broker says that nobody is subscribed to this topic.",
                reasonCode: .noMatchingSubscribers, cause: failure)
        case .asked: return CourierError(.timedOut, "\(noAnswer).", cause: failure)
        }
    }
}
