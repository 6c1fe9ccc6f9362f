import CProtobufC
import CourierCore

/// The fields of one message, as libprotobuf-c read them from the wire. Only generated code uses it, and only during
/// the call that it is handed to.
///
/// Fields are named by their place in the schema, and the codec has to be the one for the kind that the schema has
/// there; the generator sees to both.
@frozen
public struct ProtobufReader {
    @usableFromInline let record: UnsafeRawPointer
    @usableFromInline let maximumCount: Int

    @inlinable
    init(record: UnsafeRawPointer, maximumCount: Int) {
        self.record = record
        self.maximumCount = maximumCount
    }

    /// A number or text that is zero or empty unless it was sent.
    ///
    /// - Parameters:
    ///   - field: The field's place in the schema.
    ///   - codec: What it holds.
    ///   - value: Is set when the field is there.
    /// - Throws: ``CourierCore/CourierError`` when a text is not UTF-8.
    @inlinable
    public func read<Codec: ProtobufValueCodec>(
        _ field: Int, _ codec: Codec.Type, into value: inout Codec.Value
    ) throws {
        if isPresent(field) { value = try Codec.load(place(field), self, field) }
    }

    /// A number or text whose presence counts.
    ///
    /// - Parameters:
    ///   - field: The field's place in the schema.
    ///   - codec: What it holds.
    ///   - value: Is set when the field is there.
    /// - Throws: ``CourierCore/CourierError`` when a text is not UTF-8.
    @inlinable
    public func readOptional<Codec: ProtobufValueCodec>(
        _ field: Int, _ codec: Codec.Type, into value: inout Codec.Value?
    ) throws {
        if isPresent(field) { value = try Codec.load(place(field), self, field) }
    }

    /// A number or text that has to be there.
    ///
    /// - Parameters:
    ///   - field: The field's place in the schema.
    ///   - codec: What it holds.
    ///   - value: Is set.
    /// - Throws: ``CourierCore/CourierError`` when the field is missing or a text is not UTF-8.
    @inlinable
    public func readRequired<Codec: ProtobufValueCodec>(
        _ field: Int, _ codec: Codec.Type, into value: inout Codec.Value
    ) throws {
        guard isPresent(field) else { throw missing(field) }
        value = try Codec.load(place(field), self, field)
    }

    /// A message that may be missing; parts of it that came one by one are merged.
    ///
    /// - Parameters:
    ///   - field: The field's place in the schema.
    ///   - codec: What it holds.
    ///   - value: Is set when the field is there.
    /// - Throws: ``CourierCore/CourierError`` when something inside is wrong.
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

    /// A message that has to be there; parts of it that came one by one are merged.
    ///
    /// - Parameters:
    ///   - field: The field's place in the schema.
    ///   - codec: What it holds.
    ///   - value: Is set.
    /// - Throws: ``CourierCore/CourierError`` when the message is missing or something inside is wrong.
    @inlinable
    public func readRequiredMessage<Codec: ProtobufMessageCodec>(
        _ field: Int, _ codec: Codec.Type, into value: inout Codec.Value
    ) throws {
        let count = try elementCount(field)
        guard count > 0 else { throw missing(field) }
        try mergeParts(field, count, codec, into: &value)
    }

    /// Any number of elements, packed or not.
    ///
    /// - Parameters:
    ///   - field: The field's place in the schema.
    ///   - codec: What each holds.
    ///   - values: Takes the elements at its end.
    /// - Throws: ``CourierCore/CourierError`` when a text is not UTF-8 or something inside a message is wrong.
    @inlinable
    public func readRepeated<Codec: ProtobufValueCodec>(
        _ field: Int, _ codec: Codec.Type, into values: inout [Codec.Value]
    ) throws {
        let count = try elementCount(field)
        guard count > 0 else { return }
        try Codec.loadList(elements(field), count: count, into: &values, self, field)
    }

    /// A map; of entries with the same key the last one counts. A dictionary cannot hold two texts of the same letters
    /// in different bytes, so such keys are refused.
    ///
    /// - Parameters:
    ///   - field: The field's place in the schema.
    ///   - key: What its keys are.
    ///   - value: What its values are.
    ///   - entries: Takes the entries.
    /// - Throws: ``CourierCore/CourierError`` when a text is not UTF-8, two keys are the same letters in different bytes,
    ///   or something inside a message is wrong.
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
            // A key that was there stays as it was.
            if entries.count == known, Key.isTaken(key, in: entries) { throw equivalentKeys(field) }
        }
    }

    /// Which member of a oneof is set.
    ///
    /// - Parameter first: The place of the oneof's first field.
    /// - Returns: The number of the field that is set, 0 if none is.
    @inlinable
    public func member(of first: Int) -> UInt32 {
        record.load(fromByteOffset: ProtobufSlot.quantifierOffset(first), as: UInt32.self)
    }

    /// The member of a oneof that is set.
    ///
    /// - Parameters:
    ///   - first: The place of the oneof's first field.
    ///   - field: The place of the field that is set.
    ///   - codec: What it holds.
    /// - Returns: Its value.
    /// - Throws: ``CourierCore/CourierError`` when a text is not UTF-8 or something inside a message is wrong.
    @inlinable
    public func readMember<Codec: ProtobufValueCodec>(
        of first: Int, _ field: Int, _ codec: Codec.Type
    ) throws -> Codec.Value { try Codec.load(place(first), self, field) }

    /// What is not in the schema.
    ///
    /// - Parameter fields: Takes them at its end.
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

    /// The message that an element of a list, or a oneof's value, points to.
    @inlinable
    func message(at place: UnsafeRawPointer) -> ProtobufReader {
        ProtobufReader(record: place.load(as: UnsafeRawPointer.self), maximumCount: maximumCount)
    }

    @inlinable
    func place(_ field: Int) -> UnsafeRawPointer { record + ProtobufSlot.valueOffset(field) }

    /// Where the elements of a repeated field are; only asked when there are some.
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

    // MARK: What is rare

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
        // libprotobuf-c takes the number 0, which no field has, where more bytes than needed write it. A message with such a
        // field could be written and not be read again.
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
            "\(name(field)) has two keys of the same letters in different bytes, and a Dictionary can not hold both; "
                + "write keys in one form of Unicode, or declare a list of messages")
    }

    @usableFromInline
    func invalidText(_ field: Int) -> any Error {
        CourierError(.decodingFailed, "the text in \(name(field)) is not UTF-8; declare it as bytes if it is no text")
    }
}
