package import Foundation

extension NSError {
    /// Converts an app's error to an `NSError`. Returns an `NSError` unchanged. For any other error, returns a new
    /// `NSError` that contains the error under `NSUnderlyingErrorKey`.
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
