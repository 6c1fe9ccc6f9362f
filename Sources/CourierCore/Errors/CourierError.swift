import Foundation

/// The error type of Courier: a code, a sentence for people, and the underlying error.
///
/// ```swift
/// do {
///     try await client.publish(order, to: "orders/7", qos: .one)
/// } catch let error as CourierError {
///     switch error.code {
///     case .invalidTopicName: fixTheTopic(error.message)
///     case .queueFull: tryLater()
///     default: report(error)
///     }
/// }
/// ```
///
/// Mistakes in the call (`invalidTopicName`, `queueFull`) and failures of the peer (`protocolViolation`,
/// `publishRefused`) have different codes. No text of an error contains a password, a token or a payload. For a
/// ``cause`` of another type, only its type, domain and code are printed.
public struct CourierError: Error, Sendable {
    /// The kind of failure. Compare it or `switch` over it, and always add a `default`.
    public let code: Code

    /// The broker's reason code, if the broker's response caused the failure; `nil` for every other failure.
    ///
    /// The code comes from CONNACK, DISCONNECT, SUBACK, UNSUBACK, PUBACK, PUBREC or PUBCOMP. If CONNACK does not permit
    /// a call, the client itself refuses the call, and the value is the code that the broker would send, such as
    /// ``ReasonCode/qosNotSupported``. Return codes of MQTT 3.1.1 are converted to reason codes of MQTT 5.
    public let reasonCode: ReasonCode?

    /// A sentence that names what failed and how to correct it.
    public let message: String

    /// The error that caused this error; `nil` if there is none. It may be an error of the app, Foundation or a system
    /// library.
    public let cause: (any Error)?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: A sentence that names what failed and how to correct it, without secrets.
    ///   - reasonCode: The broker's reason code; `nil` by default.
    ///   - cause: The underlying error; `nil` by default.
    public init(
        _ code: Code, _ message: String, reasonCode: ReasonCode? = nil, cause: (any Error)? = nil
    ) {
        self.code = code
        self.reasonCode = reasonCode
        self.message = message
        self.cause = cause
    }
}

extension CourierError: CustomStringConvertible {
    /// A text with the code, the message, and a summary of the cause without secrets. The text has no summary if the
    /// message already begins with the text of the cause, or if the cause contains only a rejected message.
    public var description: String {
        guard let cause, rejectedMessage == nil, !repeats(cause) else { return "\(code): \(message)" }
        return "\(code): \(message) (cause: \(Self.summary(of: cause)))"
    }

    /// Returns whether the message begins with the whole text of the cause.
    private func repeats(_ cause: any Error) -> Bool {
        let words = "\(cause)"
        return !words.isEmpty && message.hasPrefix(words)
    }

    /// Returns a text about an error without secrets. For an error that is not a `CourierError`, the text contains only
    /// the type, domain and code.
    package static func summary(of error: any Error) -> String {
        if let error = error as? CourierError { return error.description }
        let bridged = error as NSError
        return "\(type(of: error)), domain \(bridged.domain), code \(bridged.code)"
    }
}

extension CourierError: CustomDebugStringConvertible, CustomReflectable {
    /// The same text as ``description``.
    public var debugDescription: String { description }

    /// Shows the codes, the message and the summary of the cause without secrets, so that `dump` shows no secret
    /// either.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "code": code.description, "message": message, "reasonCode": reasonCode?.description ?? "none",
                "cause": cause.map(Self.summary(of:)) ?? "none",
            ],
            displayStyle: .struct)
    }
}
