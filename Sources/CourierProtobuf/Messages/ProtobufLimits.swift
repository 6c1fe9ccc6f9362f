/// Limits for reading and writing one protobuf message. A message that exceeds a limit is refused with an error.
///
/// The limits bound the memory and the time that a message from a hostile peer can use.
public struct ProtobufLimits: Hashable, Sendable {
    /// The limits that apply if the caller specifies no limits.
    public static let `default` = ProtobufLimits()

    /// The largest size of a whole message in bytes, 64 MiB by default. MQTT itself allows 256 MiB.
    public var maximumSize: Int

    /// The largest number of nested message levels, 100 by default, as in Google's protobuf libraries.
    public var maximumDepth: Int

    /// The largest number of elements in one repeated field (packed or not) or one map, 1,048,576 by default. It
    /// applies when a message is read or made from JSON.
    public var maximumCount: Int

    /// The memory in bytes that libprotobuf-c may use while one message is read or made from JSON, 256 MiB by default.
    /// The memory is freed before the call returns. Messages inside an `Any` share this memory with the outer message.
    public var workingMemory: Int

    /// The largest length in bytes of a JSON text that is read or written, 16 MiB by default.
    public var maximumJSONSize: Int

    /// Creates limits.
    ///
    /// - Parameters:
    ///   - maximumSize: The largest size of a whole message in bytes. Values above 2 GiB − 1 count as 2 GiB − 1.
    ///   - maximumDepth: The largest number of nested message levels. Values above 1,000 count as 1,000.
    ///   - maximumCount: The largest number of elements in one repeated field or map.
    ///   - workingMemory: The memory in bytes that libprotobuf-c may use while one message is read or made from JSON.
    ///   - maximumJSONSize: The largest length in bytes of a JSON text that is read or written.
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

    /// The nesting limit that applies: at most 1,000 levels, because deeper recursion can overflow the stack of a small
    /// thread.
    var depth: Int { min(maximumDepth, 1_000) }

    /// The size limit that applies: at most 2 GiB − 1, because every protobuf library limits lengths on the wire to 31
    /// bits.
    var size: Int { min(maximumSize, Int(Int32.max)) }
}
