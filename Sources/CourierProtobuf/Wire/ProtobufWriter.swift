import CProtobufC
import CourierCore

/// Takes the fields of one message, as libprotobuf-c writes them to the wire. Only generated code uses it, and only
/// during the call that it is handed to.
///
/// Fields are named by their place in the schema, and the codec has to be the one for the kind that the schema has
/// there; the generator sees to both.
@frozen
public struct ProtobufWriter {
    @usableFromInline let record: UnsafeMutableRawPointer
    @usableFromInline let arena: UnsafeMutablePointer<MessageArena>

    @inlinable
    init(record: UnsafeMutableRawPointer, arena: UnsafeMutablePointer<MessageArena>) {
        self.record = record
        self.arena = arena
    }

    /// A number or text that is left out when it is zero or empty.
    ///
    /// - Parameters:
    ///   - field: The field's place in the schema.
    ///   - codec: What it holds.
    ///   - value: The value.
    /// - Throws: ``CourierCore/CourierError`` when there is no memory left.
    @inlinable
    public func write<Codec: ProtobufValueCodec>(
        _ field: Int, _ codec: Codec.Type, _ value: Codec.Value
    ) throws { if !Codec.isZero(value) { try writeRequired(field, codec, value) } }

    /// A number or text whose presence counts.
    ///
    /// - Parameters:
    ///   - field: The field's place in the schema.
    ///   - codec: What it holds.
    ///   - value: The value, `nil` to leave it out.
    /// - Throws: ``CourierCore/CourierError`` when there is no memory left.
    @inlinable
    public func writeOptional<Codec: ProtobufValueCodec>(
        _ field: Int, _ codec: Codec.Type, _ value: Codec.Value?
    ) throws { if let value { try writeRequired(field, codec, value) } }

    /// A number or text that is always written.
    ///
    /// - Parameters:
    ///   - field: The field's place in the schema.
    ///   - codec: What it holds.
    ///   - value: The value.
    /// - Throws: ``CourierCore/CourierError`` when there is no memory left.
    @inlinable
    public func writeRequired<Codec: ProtobufValueCodec>(
        _ field: Int, _ codec: Codec.Type, _ value: Codec.Value
    ) throws {
        setQuantifier(field, 1)
        try Codec.store(value, at: place(field), self, field)
    }

    /// A message that may be missing.
    ///
    /// - Parameters:
    ///   - field: The field's place in the schema.
    ///   - codec: What it holds.
    ///   - value: The message, `nil` to leave it out.
    /// - Throws: ``CourierCore/CourierError`` when the message nests too deeply.
    @inlinable
    public func writeMessage<Codec: ProtobufMessageCodec>(
        _ field: Int, _ codec: Codec.Type, _ value: Codec.Value?
    ) throws {
        guard let value else { return }
        let list = try list(field, count: 1, stride: 8)
        try Codec.store(value, at: list, self, field)
    }

    /// Any number of elements.
    ///
    /// - Parameters:
    ///   - field: The field's place in the schema.
    ///   - codec: What each holds.
    ///   - values: The elements.
    /// - Throws: ``CourierCore/CourierError`` when a message nests too deeply.
    @inlinable
    public func writeRepeated<Codec: ProtobufValueCodec>(
        _ field: Int, _ codec: Codec.Type, _ values: [Codec.Value]
    ) throws {
        guard !values.isEmpty else { return }
        let list = try list(field, count: values.count, stride: Codec.stride)
        try Codec.storeList(values, at: list, self, field)
    }

    /// A map, in ascending order of its keys.
    ///
    /// - Parameters:
    ///   - field: The field's place in the schema.
    ///   - key: What its keys are.
    ///   - value: What its values are.
    ///   - entries: The entries.
    /// - Throws: ``CourierCore/CourierError`` when a message nests too deeply.
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

    /// The member of a oneof that is set.
    ///
    /// - Parameters:
    ///   - first: The place of the oneof's first field.
    ///   - field: The place of the field that is set.
    ///   - number: Its number.
    ///   - codec: What it holds.
    ///   - value: Its value.
    /// - Throws: ``CourierCore/CourierError`` when a message nests too deeply.
    @inlinable
    public func writeMember<Codec: ProtobufValueCodec>(
        of first: Int, _ field: Int, number: UInt32, _ codec: Codec.Type, _ value: Codec.Value
    ) throws {
        record.storeBytes(of: number, toByteOffset: ProtobufSlot.quantifierOffset(first), as: UInt32.self)
        try Codec.store(value, at: place(first), self, field)
    }

    /// What is not in the schema.
    ///
    /// - Parameter fields: The fields that were read and not understood.
    /// - Throws: ``CourierCore/CourierError`` when there is no memory left.
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

    /// Makes the list of a repeated field, which the caller has to fill.
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

    /// Begins a message inside this one; ``leave()`` ends it.
    @usableFromInline
    func enter(_ field: Int) throws -> ProtobufWriter {
        let fields = record.load(as: UnsafePointer<ProtobufCMessageDescriptor>.self).pointee.fields
        guard let child = fields?[field].descriptor else { preconditionFailure("not a message field") }
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
                .encodingFailed, "\(String(cString: descriptor.pointee.name)) stands too deep in other messages")
        }
        arena.pointee.depthLeft -= 1
        let size = descriptor.pointee.sizeof_message
        guard let record = arena.pointee.allocate(size) else { throw outOfMemory }
        record.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        record.storeBytes(of: descriptor, as: UnsafePointer<ProtobufCMessageDescriptor>.self)
        return ProtobufWriter(record: record, arena: arena)
    }

    // MARK: What is rare

    private static var outOfMemory: CourierError {
        CourierError(.encodingFailed, "writing the message takes more memory than its limits allow")
    }

    @usableFromInline
    func exhausted() -> any Error { Self.outOfMemory }

    /// To libprotobuf-c they are one field, whose bytes happen to hold the others too.
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
