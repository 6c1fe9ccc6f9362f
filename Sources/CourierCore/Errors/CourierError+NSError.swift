public import Foundation

extension CourierError: LocalizedError {
    /// The sentence in ``message``.
    public var errorDescription: String? { message }
}

extension CourierError: CustomNSError {
    /// `"CourierErrorDomain"`, the domain of every bridged ``CourierError``.
    public static var errorDomain: String { "CourierErrorDomain" }

    /// The code's stable number, see ``Code/number``.
    public var errorCode: Int { code.number }

    /// The key under which ``errorUserInfo`` contains the number of the ``reasonCode`` as an `Int`.
    public static var reasonCodeKey: String { "CourierReasonCode" }

    /// The user info of the bridged error: the message under `NSLocalizedDescriptionKey`, the underlying error under
    /// `NSUnderlyingErrorKey`, and the broker's reason code under ``reasonCodeKey``.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: message]
        if let reasonCode { info[Self.reasonCodeKey] = Int(reasonCode.rawValue) }
        if let cause { info[NSUnderlyingErrorKey] = cause as NSError }
        return info
    }

    /// The same error as an `NSError`, for code that needs an `NSError`, such as ``AuthError/otherError(_:)`` and
    /// `Result<Value, NSError>`.
    public var asNSError: NSError { NSError(domain: Self.errorDomain, code: errorCode, userInfo: errorUserInfo) }
}
