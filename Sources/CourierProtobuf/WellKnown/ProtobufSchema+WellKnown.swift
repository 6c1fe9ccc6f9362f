extension ProtobufSchema {
    /// The schema of `google.protobuf.Duration`.
    public static let duration: ProtobufSchema = .init(
        "google.protobuf.Duration", [.init(1, "seconds", .int64), .init(2, "nanos", .int32)])

    /// The schema of `google.protobuf.Struct`.
    public static let structure: ProtobufSchema = .init(
        "google.protobuf.Struct", [.map(1, "fields", key: .string, value: .message { .value })])

    /// The schema of `google.protobuf.ListValue`.
    public static let list: ProtobufSchema = .init(
        "google.protobuf.ListValue", [.init(1, "values", .message { .value }, .repeated)])

    /// The schema of `google.protobuf.Value`.
    public static let value: ProtobufSchema = .init(
        "google.protobuf.Value",
        [
            .init(1, "null_value", .enumeration, .member(of: 0)),
            .init(2, "number_value", .double, .member(of: 0)),
            .init(3, "string_value", .string, .member(of: 0)),
            .init(4, "bool_value", .bool, .member(of: 0)),
            .init(5, "struct_value", .message { .structure }, .member(of: 0)),
            .init(6, "list_value", .message { .list }, .member(of: 0)),
        ])

    /// The schema of `google.protobuf.DoubleValue`.
    public static let wrappedDouble: ProtobufSchema = .init("google.protobuf.DoubleValue", [.init(1, "value", .double)])
    /// The schema of `google.protobuf.FloatValue`.
    public static let wrappedFloat: ProtobufSchema = .init("google.protobuf.FloatValue", [.init(1, "value", .float)])
    /// The schema of `google.protobuf.Int64Value`.
    public static let wrappedInt64: ProtobufSchema = .init("google.protobuf.Int64Value", [.init(1, "value", .int64)])
    /// The schema of `google.protobuf.UInt64Value`.
    public static let wrappedUInt64: ProtobufSchema = .init("google.protobuf.UInt64Value", [.init(1, "value", .uint64)])
    /// The schema of `google.protobuf.Int32Value`.
    public static let wrappedInt32: ProtobufSchema = .init("google.protobuf.Int32Value", [.init(1, "value", .int32)])
    /// The schema of `google.protobuf.UInt32Value`.
    public static let wrappedUInt32: ProtobufSchema = .init("google.protobuf.UInt32Value", [.init(1, "value", .uint32)])
    /// The schema of `google.protobuf.BoolValue`.
    public static let wrappedBool: ProtobufSchema = .init("google.protobuf.BoolValue", [.init(1, "value", .bool)])
    /// The schema of `google.protobuf.StringValue`.
    public static let wrappedString: ProtobufSchema = .init("google.protobuf.StringValue", [.init(1, "value", .string)])
    /// The schema of `google.protobuf.BytesValue`.
    public static let wrappedBytes: ProtobufSchema = .init("google.protobuf.BytesValue", [.init(1, "value", .bytes)])
}
