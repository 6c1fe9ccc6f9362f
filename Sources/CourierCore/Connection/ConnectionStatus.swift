public import Foundation

/// The state of a client's connection, with details that an app can show to a person.
///
/// ```swift
/// for await status in client.statuses {
///     if let date = status.nextAttempt {
///         label.text = "Attempt \(status.attempt) at \(date): \(status.failure?.message ?? "")"
///     }
/// }
/// ```
///
/// Later versions may add fields.
public struct ConnectionStatus: Sendable {
    /// The state of the connection.
    public var state: ConnectionState

    /// The time when this status began.
    public var since: Date

    /// The broker of the current or last attempt, such as `broker.example:8883`; `nil` before the first attempt. It
    /// contains no password.
    public var endpoint: String?

    /// The number of the current or next attempt. The count starts at 1 after a connection or `disconnect()`. 0 if no
    /// attempt runs or is planned.
    public var attempt: Int

    /// The time when the next attempt begins; `nil` if none is planned. The attempt begins earlier if the network
    /// returns or the app calls `connect()`. It begins later if there is no network.
    public var nextAttempt: Date?

    /// The reason why the last attempt failed or the last connection was lost. `nil` while there is a connection, and
    /// after `disconnect()` and `destroy()`.
    public var failure: CourierError?

    /// Makes a status. Apps need this initializer only in tests.
    ///
    /// - Parameters:
    ///   - state: The state of the connection.
    ///   - since: The date when the status began; now by default.
    ///   - endpoint: The broker of the current or last attempt; `nil` by default.
    ///   - attempt: The number of the current or next attempt; 0 by default.
    ///   - nextAttempt: The date when the next attempt begins; `nil` by default.
    ///   - failure: The reason why the last attempt failed; `nil` by default.
    public init(
        _ state: ConnectionState, since: Date = Date(), endpoint: String? = nil, attempt: Int = 0,
        nextAttempt: Date? = nil, failure: CourierError? = nil
    ) {
        self.state = state
        self.since = since
        self.endpoint = endpoint
        self.attempt = attempt
        self.nextAttempt = nextAttempt
        self.failure = failure
    }
}

extension ConnectionStatus: CustomStringConvertible {
    /// One line for a log, such as `disconnected, attempt 3, broker.example:8883, in 4 s: …`.
    public var description: String {
        var text = "\(state)"
        if attempt > 0 { text += ", attempt \(attempt)" }
        if let endpoint { text += ", \(endpoint)" }
        if let nextAttempt {
            text += ", in \(max(0, Int(nextAttempt.timeIntervalSince(since).rounded(.up)))) s"
        }
        if let failure { text += ": \(failure.message)" }
        return text
    }
}
