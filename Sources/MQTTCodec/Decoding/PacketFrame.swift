/// Where one whole packet lies in the bytes that were read, and what its fixed header says.
///
/// Offsets count from the first of the bytes that were given to ``PacketDecoder/nextFrame(in:at:)``; the same bytes must be
/// given to the functions that read the frame.
public struct PacketFrame: Hashable, Sendable {
    /// The type of the packet.
    public let type: PacketType
    /// The flags of the fixed header; only those of PUBLISH mean anything.
    let flags: UInt8
    /// Where the packet starts.
    public let start: Int
    /// Where the fixed header ends.
    let bodyStart: Int
    /// Where the packet ends, and the next one starts.
    public let end: Int

    /// Whether the remaining length has no more bytes than it needs.
    var hasMinimalLength: Bool { bodyStart - start - 1 == VariableByteInteger.byteCount(end - bodyStart) }

    /// The size of the whole packet in bytes.
    public var byteCount: Int { end - start }
}
