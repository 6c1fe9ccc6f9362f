import CourierCore

/// The reason why an attempt, a connection or a wait ended without success.
enum ConnectionFailure: Sendable {
    /// The attempt, connection or wait failed with this error.
    case error(CourierError)
    /// A call of the app ended the attempt, connection or wait, or the app entered the background.
    case cancelled

    /// The error for the app: a ``CourierCore/CourierError``, or `CancellationError`.
    var asError: any Error {
        switch self {
        case .error(let error): error
        case .cancelled: CancellationError()
        }
    }
}

extension ConnectionFailure: Equatable {
    /// Compares code and message. Ignores the cause, because no decision of the client depends on the cause.
    static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.error(let left), .error(let right)): left.code == right.code && left.message == right.message
        case (.cancelled, .cancelled): true
        case (.error, .cancelled), (.cancelled, .error): false
        }
    }
}

extension ConnectionFailure: CustomStringConvertible {
    var description: String {
        switch self {
        case .error(let error): error.message
        case .cancelled: "cancelled"
        }
    }
}
