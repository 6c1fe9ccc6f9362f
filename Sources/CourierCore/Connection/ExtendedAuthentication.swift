public import Foundation

/// Extended authentication of MQTT 5: a method that client and broker know, and the data with which the client begins.
///
/// A broker may answer the beginning with challenges, which ``ConnectionServiceProvider/answer(_:method:)`` answers. New
/// data for the same method, as a provider gives it when the old is about to end, is sent on the connection that there
/// is, which stays: re-authentication.
///
/// No description, debug description or mirror of it shows ``data``.
public struct ExtendedAuthentication: Hashable, Sendable {
    /// The name of the method, such as `SCRAM-SHA-256`.
    public let method: String

    /// The data of the first step; `nil` where the method begins without.
    public let data: Data?

    /// Joins the two.
    ///
    /// - Parameters:
    ///   - method: The name of the method.
    ///   - data: The data of the first step; `nil` by default.
    public init(method: String, data: Data? = nil) {
        self.method = method
        self.data = data
    }
}

extension ExtendedAuthentication: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The method, and that there is data.
    public var description: String {
        "ExtendedAuthentication(method: \(method.debugDescription), data: \(data == nil ? "nil" : "<hidden>"))"
    }

    /// The same text as ``description``.
    public var debugDescription: String { description }

    /// Shows the method only.
    public var customMirror: Mirror { Mirror(self, children: ["method": method], displayStyle: .struct) }
}
