/// A value as JSON has them, `google.protobuf.Value`.
///
/// `google.protobuf.Struct` is `[String: ProtobufValue]` in Swift and `google.protobuf.ListValue` is `[ProtobufValue]`.
public indirect enum ProtobufValue: Hashable, Sendable {
    /// `null`; also what a value that says nothing is read as.
    case null
    /// A number.
    case number(Double)
    /// A text.
    case string(String)
    /// `true` or `false`.
    case bool(Bool)
    /// An object.
    case structure([String: ProtobufValue])
    /// An array.
    case list([ProtobufValue])
}

extension ProtobufValue: ExpressibleByStringLiteral, ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    /// Makes a text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Makes a number.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// Makes a number.
    public init(integerLiteral value: Int) { self = .number(Double(value)) }
    /// Makes `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Makes an array.
    public init(arrayLiteral elements: ProtobufValue...) { self = .list(elements) }
    /// Makes an object; of equal names the last one counts.
    public init(dictionaryLiteral elements: (String, ProtobufValue)...) {
        self = .structure(Dictionary(elements) { _, last in last })
    }
    /// Makes `null`.
    public init(nilLiteral: ()) { self = .null }
}
