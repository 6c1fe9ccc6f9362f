import CourierCore

/// The stage of a request. After the timeout, the error depends on the stage.
enum RequestStage: Equatable, Sendable {
    /// The request waits for a connection.
    case connecting
    /// The request waits until the broker has granted the subscription of the response topic.
    case subscribing
    /// The client publishes the request, and the broker has not acknowledged it yet.
    case sending
    /// The broker has acknowledged the request with this code.
    case acknowledged(ReasonCode)

    /// Makes the error of a request that has timed out. The error names the step that the request has not completed.
    ///
    /// - Parameters:
    ///   - topic: The topic of the request.
    ///   - timeout: The timeout.
    ///   - failure: The error that explains why there is no connection; `nil` if there is a connection.
    /// - Returns: The error for the caller.
    func error(topic: String, timeout: Duration, failure: CourierError?) -> CourierError {
        let request = "the request to \(topic.quoted())"
        let noResponse = "No response to \(request) arrived in \(timeout)"
        switch self {
        case .connecting:
            return CourierError(
                .timedOut, "There was no connection for \(timeout); \(request) was not sent.", cause: failure)
        case .subscribing:
            return CourierError(
                .timedOut,
                "\(noResponse); the request was not sent, "
                    + "because the broker has not granted the subscription to the response topic.",
                cause: failure)
        case .sending:
            return CourierError(
                .timedOut, "\(noResponse); the broker has not acknowledged the request, and may not have received it.",
                cause: failure)
        case .acknowledged(.noMatchingSubscribers):
            return CourierError(
                .timedOut, "\(noResponse); the broker reports that no client is subscribed to this topic.",
                reasonCode: .noMatchingSubscribers, cause: failure)
        case .acknowledged: return CourierError(.timedOut, "\(noResponse).", cause: failure)
        }
    }
}
