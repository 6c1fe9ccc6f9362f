/// Copies one kind of value out of and into libprotobuf-c's C structs; used by generated code as a type only.
public protocol ProtobufValueCodec {
    /// What the value is in Swift.
    associatedtype Value: Hashable & Sendable

    /// The value of a field that is not there.
    static var initial: Value { get }

    /// How many bytes an element takes in a list.
    static var stride: Int { get }

    /// Whether the value is left out by a field whose presence does not count.
    static func isZero(_ value: Value) -> Bool

    /// Reads a value at its place.
    static func load(_ place: UnsafeRawPointer, _ fields: ProtobufReader, _ field: Int) throws -> Value

    /// Reads a field whose presence does not count.
    static func loadSingle(_ fields: ProtobufReader, _ field: Int) throws -> Value

    /// Appends the elements of a list.
    static func loadList(
        _ list: UnsafeRawPointer, count: Int, into values: inout [Value], _ fields: ProtobufReader, _ field: Int) throws

    /// Puts a value at its place.
    static func store(_ value: Value, at place: UnsafeMutableRawPointer, _ fields: ProtobufWriter, _ field: Int) throws

    /// Puts a value into a field that is always written.
    static func storeSingle(_ value: Value, _ fields: ProtobufWriter, _ field: Int) throws

    /// Fills a list.
    static func storeList(
        _ values: [Value], at list: UnsafeMutableRawPointer, _ fields: ProtobufWriter, _ field: Int) throws
}

/// A codec whose values can be the keys of a map.
public protocol ProtobufMapKeyCodec: ProtobufValueCodec {
    /// The order in which entries are written.
    static func precedes(_ one: Value, _ other: Value) -> Bool

    /// Whether a dictionary has a key that Swift takes for this one although it is another on the wire.
    static func isTaken<Content>(_ key: Value, in entries: [Value: Content]) -> Bool
}

/// A codec whose values are messages on the wire.
public protocol ProtobufMessageCodec: ProtobufValueCodec {
    /// Takes over what is present in a message.
    static func merge(_ fields: ProtobufReader, into value: inout Value) throws

    /// Writes the fields of a message.
    static func fill(_ fields: ProtobufWriter, _ value: Value) throws
}

extension ProtobufValueCodec {
    /// Reads the field, or gives the initial value where it is not there.
    @inlinable
    public static func loadSingle(_ fields: ProtobufReader, _ field: Int) throws -> Value {
        fields.isPresent(field) ? try load(fields.place(field), fields, field) : initial
    }

    /// Appends one element after the other.
    @inlinable
    public static func loadList(
        _ list: UnsafeRawPointer, count: Int, into values: inout [Value], _ fields: ProtobufReader, _ field: Int
    ) throws {
        values.reserveCapacity(values.count + count)
        for index in 0..<count { values.append(try load(list + index &* stride, fields, field)) }
    }

    /// Writes the field.
    @inlinable
    public static func storeSingle(_ value: Value, _ fields: ProtobufWriter, _ field: Int) throws {
        try fields.writeRequired(field, Self.self, value)
    }

    /// Puts one element after the other.
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
    /// Never: equal keys have equal bytes.
    @inlinable
    public static func isTaken<Content>(_ key: Value, in entries: [Value: Content]) -> Bool { false }
}

extension ProtobufMessageCodec {
    /// 8, the size of an address.
    @inlinable public static var stride: Int { 8 }

    /// Never: the presence of a message always counts.
    @inlinable
    public static func isZero(_ value: Value) -> Bool { false }

    /// Reads a message at its place.
    @inlinable
    public static func load(_ place: UnsafeRawPointer, _ fields: ProtobufReader, _ field: Int) throws -> Value {
        var value = initial
        try merge(fields.message(at: place), into: &value)
        return value
    }

    /// Reads the message, or gives the initial one where it is not there.
    @inlinable
    public static func loadSingle(_ fields: ProtobufReader, _ field: Int) throws -> Value {
        var value: Value?
        try fields.readMessage(field, Self.self, into: &value)
        return value ?? initial
    }

    /// Puts a message at its place.
    @inlinable
    public static func store(
        _ value: Value, at place: UnsafeMutableRawPointer, _ fields: ProtobufWriter, _ field: Int
    ) throws {
        let message = try fields.enter(field)
        place.storeBytes(of: message.record, as: UnsafeMutableRawPointer.self)
        try fill(message, value)
        message.leave()
    }

    /// Writes the message.
    @inlinable
    public static func storeSingle(_ value: Value, _ fields: ProtobufWriter, _ field: Int) throws {
        try fields.writeMessage(field, Self.self, value)
    }
}
