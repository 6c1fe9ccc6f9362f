import CProtobufC
import CourierCore

/// Receives the fields of one message, which libprotobuf-c then writes to the wire. Only generated code uses a writer,
/// and only during the call that receives it.
///
/// A field is identified by its index in the schema. The codec must match the kind of the field in the schema; the
/// generator guarantees this.
@frozen
public struct ProtobufWriter {
    @usableFromInline let record: UnsafeMutableRawPointer
    @usableFromInline let arena: UnsafeMutablePointer<MessageArena>

    @inlinable
    init(record: UnsafeMutableRawPointer, arena: UnsafeMutablePointer<MessageArena>) {
        self.record = record
        self.arena = arena
    }

    /// Writes a number, string or bytes, unless the value is zero or empty.
    ///
    /// - Parameters:
    ///   - field: The index of the field in the schema.
    ///   - codec: The codec for the kind of the field.
    ///   - value: The value.
    /// - Throws: ``CourierCore/CourierError`` if the memory limit is reached.
    @inlinable
    public func write<Codec: ProtobufValueCodec>(
        _ field: Int, _ codec: Codec.Type, _ value: Codec.Value
    ) throws { if !Codec.isZero(value) { try writeRequired(field, codec, value) } }

    /// Writes an optional number, string or bytes.
    ///
    /// - Parameters:
    ///   - field: The index of the field in the schema.
    ///   - codec: The codec for the kind of the field.
    ///   - value: The value; if it is `nil`, the field is not written.
    /// - Throws: ``CourierCore/CourierError`` if the memory limit is reached.
    @inlinable
    public func writeOptional<Codec: ProtobufValueCodec>(
        _ field: Int, _ codec: Codec.Type, _ value: Codec.Value?
    ) throws { if let value { try writeRequired(field, codec, value) } }

    /// Writes a number, string or bytes, even if the value is zero or empty.
    ///
    /// - Parameters:
    ///   - field: The index of the field in the schema.
    ///   - codec: The codec for the kind of the field.
    ///   - value: The value.
    /// - Throws: ``CourierCore/CourierError`` if the memory limit is reached.
    @inlinable
    public func writeRequired<Codec: ProtobufValueCodec>(
        _ field: Int, _ codec: Codec.Type, _ value: Codec.Value
    ) throws {
        setQuantifier(field, 1)
        try Codec.store(value, at: place(field), self, field)
    }

    /// Writes an optional message.
    ///
    /// - Parameters:
    ///   - field: The index of the field in the schema.
    ///   - codec: The codec for the kind of the field.
    ///   - value: The message; if it is `nil`, the field is not written.
    /// - Throws: ``CourierCore/CourierError`` if messages are nested too deeply.
    @inlinable
    public func writeMessage<Codec: ProtobufMessageCodec>(
        _ field: Int, _ codec: Codec.Type, _ value: Codec.Value?
    ) throws {
        guard let value else { return }
        let list = try list(field, count: 1, stride: 8)
        try Codec.store(value, at: list, self, field)
    }

    /// Writes a repeated field.
    ///
    /// - Parameters:
    ///   - field: The index of the field in the schema.
    ///   - codec: The codec for the kind of the elements.
    ///   - values: The elements.
    /// - Throws: ``CourierCore/CourierError`` if messages are nested too deeply.
    @inlinable
    public func writeRepeated<Codec: ProtobufValueCodec>(
        _ field: Int, _ codec: Codec.Type, _ values: [Codec.Value]
    ) throws {
        guard !values.isEmpty else { return }
        let list = try list(field, count: values.count, stride: Codec.stride)
        try Codec.storeList(values, at: list, self, field)
    }

    /// Writes a map in ascending order of its keys.
    ///
    /// - Parameters:
    ///   - field: The index of the field in the schema.
    ///   - key: The codec for the keys.
    ///   - value: The codec for the values.
    ///   - entries: The entries of the map.
    /// - Throws: ``CourierCore/CourierError`` if messages are nested too deeply.
    @inlinable
    public func writeMap<Key: ProtobufMapKeyCodec, Value: ProtobufValueCodec>(
        _ field: Int, key: Key.Type, value: Value.Type, _ entries: [Key.Value: Value.Value]
    ) throws {
        guard !entries.isEmpty else { return }
        let list = try list(field, count: entries.count, stride: 8)
        var place = list
        for (key, value) in entries.sorted(by: { Key.precedes($0.key, $1.key) }) {
            let entry = try enter(field)
            place.storeBytes(of: entry.record, as: UnsafeMutableRawPointer.self)
            try entry.writeRequired(0, Key.self, key)
            try Value.storeSingle(value, entry, 1)
            entry.leave()
            place += 8
        }
    }

    /// Writes the oneof member that is set.
    ///
    /// - Parameters:
    ///   - first: The index of the oneof's first field.
    ///   - field: The index of the field that is set.
    ///   - number: The number of the field that is set.
    ///   - codec: The codec for the kind of the field.
    ///   - value: The value of the field.
    /// - Throws: ``CourierCore/CourierError`` if messages are nested too deeply.
    @inlinable
    public func writeMember<Codec: ProtobufValueCodec>(
        of first: Int, _ field: Int, number: UInt32, _ codec: Codec.Type, _ value: Codec.Value
    ) throws {
        record.storeBytes(of: number, toByteOffset: ProtobufSlot.quantifierOffset(first), as: UInt32.self)
        try Codec.store(value, at: place(first), self, field)
    }

    /// Writes the fields that are not in the schema.
    ///
    /// - Parameter fields: The unknown fields that were received with the message.
    /// - Throws: ``CourierCore/CourierError`` if the memory limit is reached.
    @inlinable
    public func writeUnknown(_ fields: ProtobufUnknownFields) throws {
        if !fields.isEmpty { try storeUnknown(fields) }
    }

    // MARK: Slots

    @inlinable
    func setQuantifier(_ field: Int, _ value: Int) {
        record.storeBytes(of: value, toByteOffset: ProtobufSlot.quantifierOffset(field), as: Int.self)
    }

    @inlinable
    func place(_ field: Int) -> UnsafeMutableRawPointer { record + ProtobufSlot.valueOffset(field) }

    /// Allocates the list of a repeated field. The caller must fill the list.
    @inlinable
    func list(_ field: Int, count: Int, stride: Int) throws -> UnsafeMutableRawPointer {
        let list = try allocate(count * stride)
        setQuantifier(field, count)
        record.storeBytes(
            of: list, toByteOffset: ProtobufSlot.valueOffset(field), as: UnsafeMutableRawPointer.self)
        return list
    }

    @inlinable
    func allocate(_ size: Int) throws -> UnsafeMutableRawPointer {
        guard let place = arena.pointee.allocate(size) else { throw exhausted() }
        return place
    }

    /// Begins a message inside this message. Call ``leave()`` to end it.
    @usableFromInline
    func enter(_ field: Int) throws -> ProtobufWriter {
        let fields = record.load(as: UnsafePointer<ProtobufCMessageDescriptor>.self).pointee.fields
        guard let child = fields?[field].descriptor else {
            preconditionFailure("the type of the field is not a message type")
        }
        return try Self.begin(child.assumingMemoryBound(to: ProtobufCMessageDescriptor.self), in: arena)
    }

    @inlinable
    func leave() { leaveLevel() }

    @usableFromInline
    func leaveLevel() { arena.pointee.depthLeft += 1 }

    static func begin(
        _ descriptor: UnsafePointer<ProtobufCMessageDescriptor>, in arena: UnsafeMutablePointer<MessageArena>
    ) throws -> ProtobufWriter {
        guard arena.pointee.depthLeft > 0 else {
            throw CourierError(
                .encodingFailed, "\(String(cString: descriptor.pointee.name)) is nested too deeply in other messages")
        }
        arena.pointee.depthLeft -= 1
        let size = descriptor.pointee.sizeof_message
        guard let record = arena.pointee.allocate(size) else { throw outOfMemory }
        record.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        record.storeBytes(of: descriptor, as: UnsafePointer<ProtobufCMessageDescriptor>.self)
        return ProtobufWriter(record: record, arena: arena)
    }

    // MARK: Rarely used code

    private static var outOfMemory: CourierError {
        CourierError(.encodingFailed, "writing the message takes more memory than its limits allow")
    }

    @usableFromInline
    func exhausted() -> any Error { Self.outOfMemory }

    /// Stores all unknown fields as one field for libprotobuf-c. This field has the tag of the first unknown field, and
    /// its data also contains all following fields.
    @usableFromInline
    func storeUnknown(_ fields: ProtobufUnknownFields) throws {
        guard let head = fields.head else { return }
        let rest = fields.bytes.count - head.length
        let data = try allocate(rest)
        UnsafeMutableRawBufferPointer(start: data, count: rest).copyBytes(from: fields.bytes.dropFirst(head.length))
        let list = try allocate(MemoryLayout<ProtobufCMessageUnknownField>.stride)
            .bindMemory(to: ProtobufCMessageUnknownField.self, capacity: 1)
        list.pointee = ProtobufCMessageUnknownField(
            tag: head.number, wire_type: ProtobufCWireType(rawValue: head.wireType), len: rest,
            data: data.assumingMemoryBound(to: UInt8.self))
        record.storeBytes(of: 1, toByteOffset: ProtobufSlot.unknownCountOffset, as: UInt32.self)
        record.storeBytes(of: list, toByteOffset: ProtobufSlot.unknownListOffset, as: type(of: list))
    }
}
