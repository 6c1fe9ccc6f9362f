import CProtobufC
import CourierCore

/// The fields of one message, as libprotobuf-c read them from the wire. Only generated code uses a reader, and only
/// during the call that receives it.
///
/// A field is identified by its index in the schema. The codec must match the kind of the field in the schema; the
/// generator guarantees this.
@frozen
public struct ProtobufReader {
    @usableFromInline let record: UnsafeRawPointer
    @usableFromInline let maximumCount: Int

    @inlinable
    init(record: UnsafeRawPointer, maximumCount: Int) {
        self.record = record
        self.maximumCount = maximumCount
    }

    /// Reads a number, string or bytes of a field for which Protobuf does not record whether it was set. If the field
    /// is missing, `value` stays unchanged.
    ///
    /// - Parameters:
    ///   - field: The index of the field in the schema.
    ///   - codec: The codec for the kind of the field.
    ///   - value: Receives the value of the field.
    /// - Throws: ``CourierCore/CourierError`` if a string is not UTF-8.
    @inlinable
    public func read<Codec: ProtobufValueCodec>(
        _ field: Int, _ codec: Codec.Type, into value: inout Codec.Value
    ) throws {
        if isPresent(field) { value = try Codec.load(place(field), self, field) }
    }

    /// Reads an optional number, string or bytes. A missing field leaves the value unchanged.
    ///
    /// - Parameters:
    ///   - field: The index of the field in the schema.
    ///   - codec: The codec for the kind of the field.
    ///   - value: Set if the field is present.
    /// - Throws: ``CourierCore/CourierError`` if a string is not UTF-8.
    @inlinable
    public func readOptional<Codec: ProtobufValueCodec>(
        _ field: Int, _ codec: Codec.Type, into value: inout Codec.Value?
    ) throws {
        if isPresent(field) { value = try Codec.load(place(field), self, field) }
    }

    /// Reads a required number, string or bytes.
    ///
    /// - Parameters:
    ///   - field: The index of the field in the schema.
    ///   - codec: The codec for the kind of the field.
    ///   - value: Set to the value of the field.
    /// - Throws: ``CourierCore/CourierError`` if the field is missing or a string is not UTF-8.
    @inlinable
    public func readRequired<Codec: ProtobufValueCodec>(
        _ field: Int, _ codec: Codec.Type, into value: inout Codec.Value
    ) throws {
        guard isPresent(field) else { throw missing(field) }
        value = try Codec.load(place(field), self, field)
    }

    /// Reads an optional message. If the message arrived in several parts, the parts are merged.
    ///
    /// - Parameters:
    ///   - field: The index of the field in the schema.
    ///   - codec: The codec for the kind of the field.
    ///   - value: Set if the field is present.
    /// - Throws: ``CourierCore/CourierError`` if the content of the message is invalid.
    @inlinable
    public func readMessage<Codec: ProtobufMessageCodec>(
        _ field: Int, _ codec: Codec.Type, into value: inout Codec.Value?
    ) throws {
        let count = try elementCount(field)
        guard count > 0 else { return }
        var merged = value ?? Codec.initial
        try mergeParts(field, count, codec, into: &merged)
        value = merged
    }

    /// Reads a required message. If the message arrived in several parts, the parts are merged.
    ///
    /// - Parameters:
    ///   - field: The index of the field in the schema.
    ///   - codec: The codec for the kind of the field.
    ///   - value: Set to the value of the field.
    /// - Throws: ``CourierCore/CourierError`` if the message is missing or its content is invalid.
    @inlinable
    public func readRequiredMessage<Codec: ProtobufMessageCodec>(
        _ field: Int, _ codec: Codec.Type, into value: inout Codec.Value
    ) throws {
        let count = try elementCount(field)
        guard count > 0 else { throw missing(field) }
        try mergeParts(field, count, codec, into: &value)
    }

    /// Reads a repeated field, packed or not.
    ///
    /// - Parameters:
    ///   - field: The index of the field in the schema.
    ///   - codec: The codec for the kind of the elements.
    ///   - values: The array to which the elements are appended.
    /// - Throws: ``CourierCore/CourierError`` if there are too many elements, a string is not UTF-8, or the content of
    ///   a message is invalid.
    @inlinable
    public func readRepeated<Codec: ProtobufValueCodec>(
        _ field: Int, _ codec: Codec.Type, into values: inout [Codec.Value]
    ) throws {
        let count = try elementCount(field)
        guard count > 0 else { return }
        try Codec.loadList(elements(field), count: count, into: &values, self, field)
    }

    /// Reads a map. If a key occurs twice, the last entry is used.
    ///
    /// A dictionary cannot hold two keys that are the same text with different UTF-8 bytes, so such keys are refused.
    ///
    /// - Parameters:
    ///   - field: The index of the field in the schema.
    ///   - key: The codec for the keys.
    ///   - value: The codec for the values.
    ///   - entries: The dictionary to which the entries are added.
    /// - Throws: ``CourierCore/CourierError`` if there are too many entries, two keys are the same text with different
    ///   bytes, or a key or value is invalid.
    @inlinable
    public func readMap<Key: ProtobufMapKeyCodec, Value: ProtobufValueCodec>(
        _ field: Int, key: Key.Type, value: Value.Type, into entries: inout [Key.Value: Value.Value]
    ) throws {
        let count = try elementCount(field)
        guard count > 0 else { return }
        let records = elements(field)
        if entries.isEmpty { entries.reserveCapacity(count) }
        for index in 0..<count {
            let entry = message(at: records + index * 8)
            var key = Key.initial
            try entry.read(0, Key.self, into: &key)
            let known = entries.count
            entries[key] = try Value.loadSingle(entry, 1)
            // If the dictionary already contains an equal key, the old key stays in the dictionary. So the bytes of the
            // old and the new key are compared.
            if entries.count == known, Key.isTaken(key, in: entries) { throw equivalentKeys(field) }
        }
    }

    /// Returns the number of the oneof member that is set.
    ///
    /// - Parameter first: The index of the oneof's first field.
    /// - Returns: The number of the field that is set; 0 if no field is set.
    @inlinable
    public func member(of first: Int) -> UInt32 {
        record.load(fromByteOffset: ProtobufSlot.quantifierOffset(first), as: UInt32.self)
    }

    /// Reads the oneof member that is set.
    ///
    /// - Parameters:
    ///   - first: The index of the oneof's first field.
    ///   - field: The index of the field that is set.
    ///   - codec: The codec for the kind of the field.
    /// - Returns: The value of the field.
    /// - Throws: ``CourierCore/CourierError`` if a string is not UTF-8 or the content of a message is invalid.
    @inlinable
    public func readMember<Codec: ProtobufValueCodec>(
        of first: Int, _ field: Int, _ codec: Codec.Type
    ) throws -> Codec.Value { try Codec.load(place(first), self, field) }

    /// Reads the fields that are not in the schema.
    ///
    /// - Parameter fields: The unknown fields to which the fields are appended.
    @inlinable
    public func readUnknown(into fields: inout ProtobufUnknownFields) {
        guard record.load(fromByteOffset: ProtobufSlot.unknownCountOffset, as: UInt32.self) > 0 else { return }
        appendUnknown(to: &fields)
    }

    // MARK: Slots

    @inlinable
    func isPresent(_ field: Int) -> Bool {
        record.load(fromByteOffset: ProtobufSlot.quantifierOffset(field), as: Int32.self) != 0
    }

    @inlinable
    func elementCount(_ field: Int) throws -> Int {
        let count = record.load(fromByteOffset: ProtobufSlot.quantifierOffset(field), as: Int.self)
        if count > maximumCount { throw tooMany(field, count) }
        return count
    }

    /// Returns the message whose address is stored in an element of a list or in the slot of a oneof.
    @inlinable
    func message(at place: UnsafeRawPointer) -> ProtobufReader {
        ProtobufReader(record: place.load(as: UnsafeRawPointer.self), maximumCount: maximumCount)
    }

    @inlinable
    func place(_ field: Int) -> UnsafeRawPointer { record + ProtobufSlot.valueOffset(field) }

    /// Returns the address of the first element of a repeated field. Call it only if the field has elements.
    @inlinable
    func elements(_ field: Int) -> UnsafeRawPointer {
        record.load(fromByteOffset: ProtobufSlot.valueOffset(field), as: UnsafeRawPointer.self)
    }

    @inlinable
    func mergeParts<Codec: ProtobufMessageCodec>(
        _ field: Int, _ count: Int, _ codec: Codec.Type, into value: inout Codec.Value
    ) throws {
        if count == 1 { return try Codec.merge(message(at: elements(field)), into: &value) }
        let whole = whole(field, count)
        defer { whole.deallocate() }
        try Codec.merge(ProtobufReader(record: whole, maximumCount: maximumCount), into: &value)
    }

    // MARK: Rarely used code

    private var descriptor: UnsafePointer<ProtobufCMessageDescriptor> {
        record.load(as: UnsafePointer<ProtobufCMessageDescriptor>.self)
    }

    @usableFromInline
    func whole(_ field: Int, _ count: Int) -> UnsafeMutableRawPointer {
        MessageParts.whole(of: elements(field), count: count)
    }

    @usableFromInline
    func appendUnknown(to fields: inout ProtobufUnknownFields) {
        let message = record.assumingMemoryBound(to: ProtobufCMessage.self).pointee
        // libprotobuf-c accepts the invalid field number 0 if its tag is longer than necessary. Such a field is left
        // out, because a message with this field could be written but not read again.
        for field in UnsafeBufferPointer(start: message.unknown_fields, count: Int(message.n_unknown_fields))
        where field.tag != 0 {
            fields.append(number: field.tag, wireType: field.wire_type.rawValue, data: field.data, count: field.len)
        }
    }

    private func name(_ field: Int) -> String {
        "\(String(cString: descriptor.pointee.name)).\(String(cString: descriptor.pointee.fields[field].name))"
    }

    @usableFromInline
    func missing(_ field: Int) -> any Error {
        CourierError(.decodingFailed, "the required field \(name(field)) is missing")
    }

    @usableFromInline
    func tooMany(_ field: Int, _ count: Int) -> any Error {
        CourierError(.decodingFailed, "\(name(field)) has \(count) elements, more than the limit of \(maximumCount)")
    }

    @usableFromInline
    func equivalentKeys(_ field: Int) -> any Error {
        CourierError(
            .decodingFailed,
            "\(name(field)) has two keys that are the same text in Unicode, but different bytes; a Dictionary cannot hold both; "
                + "normalize the keys to one form of Unicode, or use a repeated field instead of a map")
    }

    @usableFromInline
    func invalidText(_ field: Int) -> any Error {
        CourierError(
            .decodingFailed, "the text in \(name(field)) is not UTF-8; if the field is not text, declare it as bytes")
    }
}
