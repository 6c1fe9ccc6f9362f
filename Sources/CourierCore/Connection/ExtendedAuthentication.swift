public import Foundation

/// Extended authentication of MQTT 5: a method that client and broker support, and the data of the client's first step.
///
/// If the broker sends challenges, ``ConnectionServiceProvider/answer(_:method:)`` returns the responses. The provider
/// may return new data for the same method before the old data expires. Then the client sends the new data on the open
/// connection (re-authentication).
///
/// The descriptions and the mirror of this value do not show ``data``.
public struct ExtendedAuthentication: Hashable, Sendable {
    /// The name of the method, such as `SCRAM-SHA-256`.
    public let method: String

    /// The data of the first step; `nil` if the method begins without data.
    public let data: Data?

    /// Makes an extended authentication.
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
    /// A text with the method, and whether there is data. The data itself is hidden.
    public var description: String {
        "ExtendedAuthentication(method: \(method.debugDescription), data: \(data == nil ? "nil" : "<hidden>"))"
    }

    /// The same text as ``description``.
    public var debugDescription: String { description }

    /// Shows only the method, so that `dump` and debuggers do not show the data.
    public var customMirror: Mirror { Mirror(self, children: ["method": method], displayStyle: .struct) }
}
