public import Foundation

/// Initializers with the argument labels of Courier iOS.
extension JSONMessageAdapter {
    /// The same as ``init(encoder:decoder:)``.
    @available(*, deprecated, renamed: "init(encoder:decoder:)")
    public init(jsonDecoder: JSONDecoder, jsonEncoder: JSONEncoder = JSONEncoder()) {
        self.init(encoder: jsonEncoder, decoder: jsonDecoder)
    }

    /// The same as ``init(encoder:decoder:)``.
    @available(*, deprecated, renamed: "init(encoder:)")
    public init(jsonEncoder: JSONEncoder) { self.init(encoder: jsonEncoder) }
}
