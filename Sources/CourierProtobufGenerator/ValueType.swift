import CourierProtobuf

/// Describes the values of a field: their Swift type, their codec, and their kind in the schema.
struct ValueType {
    /// The Swift type of the value.
    let swift: String
    let codec: String
    /// The kind of the field in the schema, as Swift source.
    let kind: String
    /// The value of a missing field, as Swift source.
    let initial: String
    let isMessage: Bool
    /// The full name of a generated message type, which can contain other message types; `nil` for all other types.
    var messageName: String?

    init(_ field: FieldDescriptor, in types: TypeTable) throws(GeneratorError) {
        switch field.kind {
        case .message: self = try Self.message(field.typeName, in: types)
        case .enum: self = try Self.enumeration(field.typeName, in: types)
        case .bool: self.init("Bool", codec: "Flag", kind: "bool", initial: "false")
        case .string: self.init("String", codec: "Text", kind: "string", initial: "\"\"")
        case .bytes: self.init("[UInt8]", codec: "Bytes", kind: "bytes", initial: "[]")
        case .double: self.init(number: "Double", kind: "double")
        case .float: self.init(number: "Float", kind: "float")
        case .int32: self.init(number: "Int32", kind: "int32")
        case .sint32: self.init(number: "Int32", kind: "sint32")
        case .sfixed32: self.init(number: "Int32", kind: "sfixed32")
        case .uint32: self.init(number: "UInt32", kind: "uint32")
        case .fixed32: self.init(number: "UInt32", kind: "fixed32")
        case .int64: self.init(number: "Int64", kind: "int64")
        case .sint64: self.init(number: "Int64", kind: "sint64")
        case .sfixed64: self.init(number: "Int64", kind: "sfixed64")
        case .uint64: self.init(number: "UInt64", kind: "uint64")
        case .fixed64: self.init(number: "UInt64", kind: "fixed64")
        case .group:
            throw GeneratorError("\(field.name) is a group, which libprotobuf-c cannot read; use a message instead")
        case .unspecified, .unrecognized:
            throw GeneratorError("\(field.name) has an unknown type; this protoc is too new")
        }
    }

    private init(_ swift: String, codec: String, kind: String, initial: String, isMessage: Bool = false) {
        self.swift = swift
        self.codec = "ProtobufCodec.\(codec)"
        self.kind = ".\(kind)"
        self.initial = initial
        self.isMessage = isMessage
    }

    private init(number: String, kind: String) {
        self.init(number, codec: "Number<\(number)>", kind: kind, initial: "0")
    }

    private init(bridged swift: String, codec: String, schema: String, initial: String) {
        self.init(swift, codec: codec, kind: "message { .\(schema) }", initial: initial, isMessage: true)
    }

    private static func wrapped(_ swift: String, codec: String, schema: String, initial: String) -> ValueType {
        ValueType(bridged: swift, codec: "Wrapped<ProtobufCodec.\(codec)>", schema: schema, initial: initial)
    }

    private init(message path: String) {
        self.init(
            path, codec: "Message<\(path)>", kind: "message { \(path).protobufSchema }", initial: "\(path)()",
            isMessage: true)
    }

    private static func enumeration(_ name: String, in types: TypeTable) throws(GeneratorError) -> ValueType {
        if name == ".google.protobuf.NullValue" {
            return ValueType("Int32", codec: "Number<Int32>", kind: "enumeration", initial: "0")
        }
        guard let type = types.enumerations[name] else { throw GeneratorError("there is no enumeration \(name)") }
        try checkOrigin(name, type.file)
        let path = type.path
        return ValueType(path, codec: "Enumeration<\(path)>", kind: "enumeration", initial: "\(path)()")
    }

    private static func message(_ name: String, in types: TypeTable) throws(GeneratorError) -> ValueType {
        if let known = wellKnown[name] { return known }
        guard let message = types.messages[name] else { throw GeneratorError("there is no message \(name)") }
        try checkOrigin(name, message.file)
        var type = ValueType(message: message.path)
        type.messageName = name
        return type
    }

    /// Throws if a type is declared in a file of Google, because the generator makes no Swift types from these files.
    private static func checkOrigin(_ name: String, _ file: FileDescriptor) throws(GeneratorError) {
        if file.name.hasPrefix("google/protobuf/") {
            throw GeneratorError("\(name.dropFirst()) of \(file.name) has no Swift type; copy its file to your project")
        }
    }

    /// Google's well-known types that have a Swift type in the standard library or in CourierProtobuf.
    private static let wellKnown: [String: ValueType] = [
        ".google.protobuf.Any": ValueType(message: "ProtobufAny"),
        ".google.protobuf.Empty": ValueType(message: "ProtobufEmpty"),
        ".google.protobuf.FieldMask": ValueType(message: "ProtobufFieldMask"),
        ".google.protobuf.Timestamp": ValueType(message: "ProtobufTimestamp"),
        ".google.protobuf.Duration": ValueType(
            bridged: "Duration", codec: "Span", schema: "duration", initial: ".zero"),
        ".google.protobuf.Struct": ValueType(
            bridged: "[String: ProtobufValue]", codec: "Structure", schema: "structure", initial: "[:]"),
        ".google.protobuf.ListValue": ValueType(
            bridged: "[ProtobufValue]", codec: "List", schema: "list", initial: "[]"),
        ".google.protobuf.Value": ValueType(
            bridged: "ProtobufValue", codec: "AnyValue", schema: "value", initial: ".null"),
        ".google.protobuf.DoubleValue": wrapped(
            "Double", codec: "Number<Double>", schema: "wrappedDouble", initial: "0"),
        ".google.protobuf.FloatValue": wrapped("Float", codec: "Number<Float>", schema: "wrappedFloat", initial: "0"),
        ".google.protobuf.Int64Value": wrapped("Int64", codec: "Number<Int64>", schema: "wrappedInt64", initial: "0"),
        ".google.protobuf.UInt64Value": wrapped(
            "UInt64", codec: "Number<UInt64>", schema: "wrappedUInt64", initial: "0"),
        ".google.protobuf.Int32Value": wrapped("Int32", codec: "Number<Int32>", schema: "wrappedInt32", initial: "0"),
        ".google.protobuf.UInt32Value": wrapped(
            "UInt32", codec: "Number<UInt32>", schema: "wrappedUInt32", initial: "0"),
        ".google.protobuf.BoolValue": wrapped("Bool", codec: "Flag", schema: "wrappedBool", initial: "false"),
        ".google.protobuf.StringValue": wrapped("String", codec: "Text", schema: "wrappedString", initial: "\"\""),
        ".google.protobuf.BytesValue": wrapped("[UInt8]", codec: "Bytes", schema: "wrappedBytes", initial: "[]"),
    ]
}
