/// What one protobuf message may cost; a message that would cost more is refused with an error.
///
/// They bound what a hostile peer can make a reader spend, whatever the message claims about itself.
public struct ProtobufLimits: Hashable, Sendable {
    /// The limits that apply unless others are given.
    public static let `default` = ProtobufLimits()

    /// The size of the whole message in bytes, 64 MiB by default. MQTT itself allows 256 MiB.
    public var maximumSize: Int

    /// How deeply messages may stand in each other, 100 by default, as in the protobuf libraries of Google.
    public var maximumDepth: Int

    /// How many elements one repeated field, packed or not, or one map may have that is read or made from JSON,
    /// 1,048,576 by default.
    public var maximumCount: Int

    /// The memory that libprotobuf-c may take while one message is read or made from JSON, in bytes, 256 MiB by default.
    /// It is given back before the call returns.
    public var workingMemory: Int

    /// The length of a JSON text that is read or made, in bytes, 16 MiB by default.
    public var maximumJSONSize: Int

    /// Makes limits.
    ///
    /// - Parameters:
    ///   - maximumSize: The size of the whole message in bytes; at most 2 GiB − 1 is used.
    ///   - maximumDepth: How deeply messages may stand in each other; at most 1,000 is used.
    ///   - maximumCount: How many elements one repeated field or map may have.
    ///   - workingMemory: The memory that libprotobuf-c may take while one message is read or made from JSON, in bytes.
    ///   - maximumJSONSize: The length of a JSON text that is read or made, in bytes.
    public init(
        maximumSize: Int = 64 << 20, maximumDepth: Int = 100, maximumCount: Int = 1 << 20,
        workingMemory: Int = 256 << 20, maximumJSONSize: Int = 16 << 20
    ) {
        self.maximumSize = maximumSize
        self.maximumDepth = maximumDepth
        self.maximumCount = maximumCount
        self.workingMemory = workingMemory
        self.maximumJSONSize = maximumJSONSize
    }

    /// Deeper than this the stack of a small thread is not certain to last.
    var depth: Int { min(maximumDepth, 1_000) }

    /// Lengths on the wire are held to 31 bits by every protobuf library.
    var size: Int { min(maximumSize, Int(Int32.max)) }
}
