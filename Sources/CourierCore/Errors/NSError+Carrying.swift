package import Foundation

extension NSError {
    /// Converts an app's error to an `NSError`. An `NSError` is returned unchanged. For any other error, a new
    /// `NSError` is returned that contains the error under `NSUnderlyingErrorKey`.
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
