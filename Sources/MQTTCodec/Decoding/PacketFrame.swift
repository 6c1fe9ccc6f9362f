/// The position of one whole packet in the received bytes, with the type and flags of its fixed header.
///
/// Offsets are relative to the first of the bytes that were passed to ``PacketDecoder/nextFrame(in:at:)``. The
/// functions that read the frame must get the same bytes.
public struct PacketFrame: Hashable, Sendable {
    /// The type of the packet.
    public let type: PacketType
    /// The flags of the fixed header. Only the flags of PUBLISH have a meaning.
    let flags: UInt8
    /// The offset of the packet's first byte.
    public let start: Int
    /// The offset of the first byte after the fixed header.
    let bodyStart: Int
    /// The offset of the first byte after the packet, where the next packet starts.
    public let end: Int

    /// True if the remaining length is encoded in its shortest form.
    var hasMinimalLength: Bool { bodyStart - start - 1 == VariableByteInteger.byteCount(end - bodyStart) }

    /// The size of the whole packet in bytes.
    public var byteCount: Int { end - start }
}
