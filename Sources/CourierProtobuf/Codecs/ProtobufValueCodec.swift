/// Copies values of one kind between Swift and the C structs of libprotobuf-c. Generated code uses a codec only as a
/// type.
public protocol ProtobufValueCodec {
    /// The Swift type of the value.
    associatedtype Value: Hashable & Sendable

    /// The value of a missing field.
    static var initial: Value { get }

    /// The number of bytes that one element occupies in a list.
    static var stride: Int { get }

    /// True if a field without presence is not written when it has this value. A field without presence does not
    /// distinguish "missing" from "zero".
    static func isZero(_ value: Value) -> Bool

    /// Reads a value from its memory in a C struct.
    static func load(_ place: UnsafeRawPointer, _ fields: ProtobufReader, _ field: Int) throws -> Value

    /// Reads a field that does not distinguish "missing" from "zero". If the field is missing, the result is the
    /// initial value.
    static func loadSingle(_ fields: ProtobufReader, _ field: Int) throws -> Value

    /// Appends the elements of a C list to an array.
    static func loadList(
        _ list: UnsafeRawPointer, count: Int, into values: inout [Value], _ fields: ProtobufReader, _ field: Int) throws

    /// Writes a value to its memory in a C struct.
    static func store(_ value: Value, at place: UnsafeMutableRawPointer, _ fields: ProtobufWriter, _ field: Int) throws

    /// Writes a value to a field, even if the value is zero or empty.
    static func storeSingle(_ value: Value, _ fields: ProtobufWriter, _ field: Int) throws

    /// Writes the elements of an array to a C list.
    static func storeList(
        _ values: [Value], at list: UnsafeMutableRawPointer, _ fields: ProtobufWriter, _ field: Int) throws
}

/// A codec whose values can be the keys of a map.
public protocol ProtobufMapKeyCodec: ProtobufValueCodec {
    /// True if the first key is written before the second key.
    static func precedes(_ one: Value, _ other: Value) -> Bool

    /// True if the dictionary has a key that is equal in Swift but has other bytes on the wire.
    static func isTaken<Content>(_ key: Value, in entries: [Value: Content]) -> Bool
}

/// A codec whose values are messages on the wire.
public protocol ProtobufMessageCodec: ProtobufValueCodec {
    /// Sets the parts of the value that are present in a received message.
    static func merge(_ fields: ProtobufReader, into value: inout Value) throws

    /// Writes the value as the fields of a message.
    static func fill(_ fields: ProtobufWriter, _ value: Value) throws
}

extension ProtobufValueCodec {
    /// Reads the field; returns the initial value if the field is missing.
    @inlinable
    public static func loadSingle(_ fields: ProtobufReader, _ field: Int) throws -> Value {
        fields.isPresent(field) ? try load(fields.place(field), fields, field) : initial
    }

    /// Appends the elements of a C list to an array, one by one.
    @inlinable
    public static func loadList(
        _ list: UnsafeRawPointer, count: Int, into values: inout [Value], _ fields: ProtobufReader, _ field: Int
    ) throws {
        values.reserveCapacity(values.count + count)
        for index in 0..<count { values.append(try load(list + index &* stride, fields, field)) }
    }

    /// Writes the field, even if the value is zero or empty.
    @inlinable
    public static func storeSingle(_ value: Value, _ fields: ProtobufWriter, _ field: Int) throws {
        try fields.writeRequired(field, Self.self, value)
    }

    /// Writes the elements of an array to a C list, one by one.
    @inlinable
    public static func storeList(
        _ values: [Value], at list: UnsafeMutableRawPointer, _ fields: ProtobufWriter, _ field: Int
    ) throws {
        var place = list
        for value in values {
            try store(value, at: place, fields, field)
            place += stride
        }
    }
}

extension ProtobufMapKeyCodec {
    /// This default implementation returns false for every key, because equal keys of most types have equal bytes. The
    /// codec for `string` has its own implementation.
    @inlinable
    public static func isTaken<Content>(_ key: Value, in entries: [Value: Content]) -> Bool { false }
}

extension ProtobufMessageCodec {
    /// The size of one element in a list: 8 bytes, for an address.
    @inlinable public static var stride: Int { 8 }

    /// Returns false for every message. A message field distinguishes "missing" from "empty", so an empty message is
    /// written too.
    @inlinable
    public static func isZero(_ value: Value) -> Bool { false }

    /// Reads a message through its address in a C struct.
    @inlinable
    public static func load(_ place: UnsafeRawPointer, _ fields: ProtobufReader, _ field: Int) throws -> Value {
        var value = initial
        try merge(fields.message(at: place), into: &value)
        return value
    }

    /// Reads the message; returns the initial value if the message is missing.
    @inlinable
    public static func loadSingle(_ fields: ProtobufReader, _ field: Int) throws -> Value {
        var value: Value?
        try fields.readMessage(field, Self.self, into: &value)
        return value ?? initial
    }

    /// Creates a C struct for the message and stores its address.
    @inlinable
    public static func store(
        _ value: Value, at place: UnsafeMutableRawPointer, _ fields: ProtobufWriter, _ field: Int
    ) throws {
        let message = try fields.enter(field)
        place.storeBytes(of: message.record, as: UnsafeMutableRawPointer.self)
        try fill(message, value)
        message.leave()
    }

    /// Writes the message to its field.
    @inlinable
    public static func storeSingle(_ value: Value, _ fields: ProtobufWriter, _ field: Int) throws {
        try fields.writeMessage(field, Self.self, value)
    }
}
