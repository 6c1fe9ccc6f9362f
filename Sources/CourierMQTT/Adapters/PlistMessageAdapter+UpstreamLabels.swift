public import Foundation

/// The labels of Courier iOS.
extension PlistMessageAdapter {
    /// As ``init(encoder:decoder:)``; an encoder of Foundation's defaults writes XML.
    @available(*, deprecated, renamed: "init(encoder:decoder:)")
    public init(plistDecoder: PropertyListDecoder, plistEncoder: PropertyListEncoder = PropertyListEncoder()) {
        self.init(encoder: plistEncoder, decoder: plistDecoder)
    }

    /// As ``init(encoder:decoder:)``.
    @available(*, deprecated, renamed: "init(encoder:)")
    public init(plistEncoder: PropertyListEncoder) { self.init(encoder: plistEncoder) }
}
