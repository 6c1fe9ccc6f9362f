public import Foundation

/// Initializers with the argument labels of Courier iOS.
extension PlistMessageAdapter {
    /// The same as ``init(encoder:decoder:)``. An encoder with Foundation's defaults writes XML.
    @available(*, deprecated, renamed: "init(encoder:decoder:)")
    public init(plistDecoder: PropertyListDecoder, plistEncoder: PropertyListEncoder = PropertyListEncoder()) {
        self.init(encoder: plistEncoder, decoder: plistDecoder)
    }

    /// The same as ``init(encoder:decoder:)``.
    @available(*, deprecated, renamed: "init(encoder:)")
    public init(plistEncoder: PropertyListEncoder) { self.init(encoder: plistEncoder) }
}
