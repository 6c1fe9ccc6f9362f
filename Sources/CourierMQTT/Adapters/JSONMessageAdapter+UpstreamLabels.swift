public import Foundation

/// The labels of Courier iOS.
extension JSONMessageAdapter {
    /// As ``init(encoder:decoder:)``.
    @available(*, deprecated, renamed: "init(encoder:decoder:)")
    public init(jsonDecoder: JSONDecoder, jsonEncoder: JSONEncoder = JSONEncoder()) {
        self.init(encoder: jsonEncoder, decoder: jsonDecoder)
    }

    /// As ``init(encoder:decoder:)``.
    @available(*, deprecated, renamed: "init(encoder:)")
    public init(jsonEncoder: JSONEncoder) { self.init(encoder: jsonEncoder) }
}
