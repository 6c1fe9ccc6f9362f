/// `google.protobuf.Value`: any JSON value.
///
/// `google.protobuf.Struct` is `[String: ProtobufValue]` in Swift and `google.protobuf.ListValue` is `[ProtobufValue]`.
public indirect enum ProtobufValue: Hashable, Sendable {
    /// `null`. A received value without content is read as `null` too.
    case null
    /// A number.
    case number(Double)
    /// A string.
    case string(String)
    /// `true` or `false`.
    case bool(Bool)
    /// A JSON object: values by name.
    case structure([String: ProtobufValue])
    /// A JSON array.
    case list([ProtobufValue])
}

extension ProtobufValue: ExpressibleByStringLiteral, ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates a number.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// Creates a number.
    public init(integerLiteral value: Int) { self = .number(Double(value)) }
    /// Creates `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates an array.
    public init(arrayLiteral elements: ProtobufValue...) { self = .list(elements) }
    /// Creates an object. If a name occurs twice, its last value counts.
    public init(dictionaryLiteral elements: (String, ProtobufValue)...) {
        self = .structure(Dictionary(elements) { _, last in last })
    }
    /// Creates `null`.
    public init(nilLiteral: ()) { self = .null }
}
