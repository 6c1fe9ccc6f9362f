/// An enumeration that `protoc-gen-courier` generated from a `.proto` file.
///
/// A value can hold every number. A number that the `.proto` file does not name is read as the case `unrecognized` and
/// written again unchanged.
public protocol ProtobufEnum: Hashable, Sendable {
    /// The number on the wire.
    var rawValue: Int32 { get }

    /// Creates the default value, which is the first value in the `.proto` file.
    init()

    /// Creates the value that has the given number.
    ///
    /// - Parameter rawValue: The number on the wire.
    init(rawValue: Int32)
}
