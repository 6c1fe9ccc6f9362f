import CourierCore

/// The events that a ``ConnectionSupervisor`` reports. Tests can compare lists of these events.
enum ConnectionEvent: Equatable, Sendable {
    case authStarted
    case authSucceeded(after: Duration)
    case authFailed(after: Duration, ConnectionFailure)

    case attempt
    case connectPacketSent
    case succeeded(after: Duration)
    case failed(after: Duration, ConnectionFailure)
    /// `sinceInbound` is the time since bytes were last received; `nil` if none were received. `sinceOutbound` is the
    /// time since bytes were last sent; `nil` if none were sent.
    case lost(after: Duration, ConnectionFailure, sinceInbound: Duration?, sinceOutbound: Duration?)
    case disconnected
    case reconnect
    case connectDiscarded(reason: String)
    case courierDisconnect(clearsState: Bool)

    case appForeground
    case appBackground
    case networkAvailable
    case networkUnavailable

    /// True if an attempt or a renewal of credentials failed. False if it was cancelled.
    var isFailedAttempt: Bool {
        switch self {
        case .authFailed(_, .error), .failed(_, .error): true
        case .authFailed(_, .cancelled), .failed(_, .cancelled), .authStarted, .authSucceeded, .attempt,
            .connectPacketSent, .succeeded, .lost, .disconnected, .reconnect, .connectDiscarded, .courierDisconnect,
            .appForeground, .appBackground, .networkAvailable, .networkUnavailable:
            false
        }
    }

    /// The error of a failed attempt, of a lost connection, or of a failed renewal of credentials; `nil` for all other
    /// events.
    var failure: CourierError? {
        switch self {
        case .authFailed(_, .error(let error)), .failed(_, .error(let error)), .lost(_, .error(let error), _, _): error
        case .authFailed(_, .cancelled), .failed(_, .cancelled), .lost(_, .cancelled, _, _), .authStarted,
            .authSucceeded, .attempt, .connectPacketSent, .succeeded, .disconnected, .reconnect, .connectDiscarded,
            .courierDisconnect, .appForeground, .appBackground, .networkAvailable, .networkUnavailable:
            nil
        }
    }

    /// The event in the form that the app receives.
    var type: CourierEventType {
        switch self {
        case .authStarted: .connectionServiceAuthStart
        case .authSucceeded(let time): .connectionServiceAuthSuccess(timeTaken: time.wholeMilliseconds)
        case .authFailed(let time, let failure):
            .connectionServiceAuthFailure(timeTaken: time.wholeMilliseconds, error: failure.asError)
        case .attempt: .connectionAttempt
        case .connectPacketSent: .connectedPacketSent
        case .succeeded(let time): .connectionSuccess(timeTaken: time.wholeMilliseconds)
        case .failed(let time, let failure):
            .connectionFailure(timeTaken: time.wholeMilliseconds, error: failure.asError)
        case .lost(let time, let failure, let sinceInbound, let sinceOutbound):
            .connectionLost(
                timeTaken: time.wholeMilliseconds, error: failure.asError,
                diffLastInbound: sinceInbound?.wholeMilliseconds, diffLastOutbound: sinceOutbound?.wholeMilliseconds)
        case .disconnected: .connectionDisconnect
        case .reconnect: .reconnect
        case .connectDiscarded(let reason): .connectDiscarded(reason: reason)
        case .courierDisconnect(let clearsState): .courierDisconnect(clearState: clearsState)
        case .appForeground: .appForeground
        case .appBackground: .appBackground
        case .networkAvailable: .connectionAvailable
        case .networkUnavailable: .connectionUnavailable
        }
    }
}

extension Duration {
    /// The number of whole milliseconds, rounded down, but at most `Int.max`.
    var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        let (product, overflows) = seconds.multipliedReportingOverflow(by: 1_000)
        return overflows ? .max : Int(clamping: product &+ attoseconds / 1_000_000_000_000_000)
    }
}
