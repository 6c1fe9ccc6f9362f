/// An enumeration that `protoc-gen-courier` made from a `.proto` file.
///
/// Every number can be held: one that the `.proto` file does not name is the `unrecognized` case and is written again
/// as it came.
public protocol ProtobufEnum: Hashable, Sendable {
    /// The number on the wire.
    var rawValue: Int32 { get }

    /// Makes the default, which is the value that the `.proto` file names first.
    init()

    /// Makes the value for a number.
    ///
    /// - Parameter rawValue: The number on the wire.
    init(rawValue: Int32)
}
