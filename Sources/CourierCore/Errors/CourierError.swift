import Foundation

/// Every failure Courier reports: what kind it is, a sentence for a person, and what lay beneath it.
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
/// A mistake in the call (`invalidTopicName`, `queueFull`) has other codes than what a peer did (`protocolViolation`,
/// `publishRefused`). No text of an error holds a password, a token or a payload: of a foreign ``cause`` only its
/// type, domain and code are printed.
public struct CourierError: Error, Sendable {
    /// What kind of failure this is; compare it or `switch` over it, and always keep a `default`.
    public let code: Code

    /// What the broker said, where the failure is its answer; `nil` for every other failure.
    ///
    /// It is the code of CONNACK, DISCONNECT, SUBACK, UNSUBACK, PUBACK, PUBREC or PUBCOMP, or the one that stands for what
    /// CONNACK has ruled out, such as ``ReasonCode/qosNotSupported``.
    /// The return codes of MQTT 3.1.1 are mapped to those of MQTT 5.
    public let reasonCode: ReasonCode?

    /// One sentence that names the thing that failed and what to do about it.
    public let message: String

    /// The error that led to this one, if there was one; it may come from the app, Foundation or a system library.
    public let cause: (any Error)?

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: A sentence that names the thing and the remedy, without secrets.
    ///   - reasonCode: What the broker said, `nil` by default.
    ///   - cause: The error beneath, `nil` by default.
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
    /// The code, the sentence, and a summary of the cause that cannot leak what a foreign error carries; none where the
    /// cause says no more than the sentence.
    public var description: String {
        guard let cause, rejectedMessage == nil, !repeats(cause) else { return "\(code): \(message)" }
        return "\(code): \(message) (cause: \(Self.summary(of: cause)))"
    }

    /// Whether the sentence begins with all that the cause would say.
    private func repeats(_ cause: any Error) -> Bool {
        let words = "\(cause)"
        return !words.isEmpty && message.hasPrefix(words)
    }

    /// What may be said of an error, which may be a foreign one that carries secrets.
    package static func summary(of error: any Error) -> String {
        if let error = error as? CourierError { return error.description }
        let bridged = error as NSError
        return "\(type(of: error)), domain \(bridged.domain), code \(bridged.code)"
    }
}

extension CourierError: CustomDebugStringConvertible, CustomReflectable {
    /// The same text as ``description``.
    public var debugDescription: String { description }

    /// Shows the codes, the message and the safe summary of the cause, so that `dump` shows no secret either.
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
