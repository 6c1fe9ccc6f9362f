import CourierCore

/// Why an attempt, a connection or a wait ended without success, in a form that can be compared.
enum ConnectionFailure: Sendable {
    /// It failed.
    case error(CourierError)
    /// Nothing failed: the app, or its going to the background, put an end to it.
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
    /// Compares code and message; what a cause holds says nothing more that the client decides by.
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
