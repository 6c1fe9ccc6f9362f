package import Foundation

extension NSError {
    /// An app's error as an `NSError`: itself, or an `NSError` that has it under `NSUnderlyingErrorKey`.
    ///
    /// - Parameter error: The error.
    /// - Returns: The `NSError`.
    package static func carrying(_ error: any Error) -> NSError {
        if type(of: error) is NSError.Type { return error as NSError }
        let bridged = error as NSError
        return NSError(
            domain: bridged.domain, code: bridged.code,
            userInfo: [NSUnderlyingErrorKey: error, NSLocalizedDescriptionKey: bridged.localizedDescription])
    }
}
