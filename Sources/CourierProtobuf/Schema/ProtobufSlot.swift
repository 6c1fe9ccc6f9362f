/// Computes the position of a field in the C struct of its message.
///
/// Each field has a slot of 24 bytes. The first 8 bytes hold the presence of the field, the number of its elements, or
/// the number of the oneof member that is set. The other 16 bytes hold a number, a length with a pointer, or a pointer.
/// One slot size for all kinds wastes a few bytes, but generated code needs no table of offsets.
@usableFromInline
enum ProtobufSlot {
    static var size: Int { 24 }

    /// The offset of the number of unknown fields. The header of the struct holds the descriptor's address, this
    /// number, and the address of the unknown fields.
    @inlinable static var unknownCountOffset: Int { 8 }
    @inlinable static var unknownListOffset: Int { 16 }

    @inlinable
    static func quantifierOffset(_ index: Int) -> Int { 24 &+ 24 &* index }

    @inlinable
    static func valueOffset(_ index: Int) -> Int { 32 &+ 24 &* index }

    static func recordSize(fieldCount: Int) -> Int { 24 + 24 * fieldCount }
}
