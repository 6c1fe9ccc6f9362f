/// Where a field lies in the C struct of its message.
///
/// A slot is 24 bytes: first whether the field is there, how often, or which member of a oneof; 8 bytes later a
/// number, a length with a pointer, or a pointer. One size for all kinds wastes a few bytes of scratch memory and spares
/// generated code a table of offsets.
@usableFromInline
enum ProtobufSlot {
    static var size: Int { 24 }

    /// The header is the descriptor's address, the number of unknown fields, and their address.
    @inlinable static var unknownCountOffset: Int { 8 }
    @inlinable static var unknownListOffset: Int { 16 }

    @inlinable
    static func quantifierOffset(_ index: Int) -> Int { 24 &+ 24 &* index }

    @inlinable
    static func valueOffset(_ index: Int) -> Int { 32 &+ 24 &* index }

    static func recordSize(fieldCount: Int) -> Int { 24 + 24 * fieldCount }
}
