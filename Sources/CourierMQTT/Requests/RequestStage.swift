import CourierCore

/// The stage of a request. It determines the error after the timeout.
enum RequestStage: Equatable, Sendable {
    /// It waits for a connection.
    case connecting
    /// It waits until the broker has granted the topic for its answer.
    case subscribing
    /// The request was published; the broker has not acknowledged it.
    case sending
    /// The broker has acknowledged the request with this code.
    case asked(ReasonCode)

    /// Makes the error of a timeout, which names the missing part.
    ///
    /// - Parameters:
    ///   - topic: The topic of the request.
    ///   - timeout: The timeout.
    ///   - failure: Why there is no connection, if there is none.
    /// - Returns: The error for the caller.
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
