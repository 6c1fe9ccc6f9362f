import CProtobufC

extension ProtobufSchema {
    /// The type of a field's values.
    public enum Kind: Sendable {
        // The cases have the same names as the types of the protobuf language.
        case int32, sint32, sfixed32, uint32, fixed32, int64, sint64, sfixed64, uint64, fixed64
        case float, double, bool, string, bytes
        /// A value of an enumeration, stored as its number.
        case enumeration
        /// A message. The closure returns the schema and is called only when the schema is needed, because types can
        /// contain each other.
        case message(@Sendable () -> ProtobufSchema)
    }

    /// The number of values that a field may have.
    public enum Rule: Sendable {
        /// At most one value.
        case singular
        /// Any number of values, each with its own tag.
        case repeated
        /// Any number of numeric values, all after one tag.
        case packed
        /// A member of a oneof: at most one of its members has a value. `of` is the index of the oneof's first member
        /// in the list of fields.
        case member(of: Int)
    }

    /// One field of a message type, with its number, name, kind and rule.
    public struct Field: Sendable {
        let number: UInt32
        let name: String
        let kind: Kind
        let rule: Rule

        /// Creates the declaration of a field.
        ///
        /// - Parameters:
        ///   - number: The number of the field, 1 to 536,870,911.
        ///   - name: The name of the field in the `.proto` file.
        ///   - kind: The type of the field's values.
        ///   - rule: The number of values that the field may have. Default: at most one.
        public init(_ number: UInt32, _ name: String, _ kind: Kind, _ rule: Rule = .singular) {
            precondition((1..<1 << 29).contains(number), "\(name): \(number) is not a valid field number")
            self.number = number
            self.name = name
            self.kind = kind
            self.rule = rule
        }

        /// Creates the declaration of a map. On the wire, a map is a repeated message whose fields are a key and a
        /// value.
        ///
        /// - Parameters:
        ///   - number: The number of the field, 1 to 536,870,911.
        ///   - name: The name of the field in the `.proto` file.
        ///   - key: The type of the keys.
        ///   - value: The type of the values.
        /// - Returns: The declaration of the field.
        public static func map(_ number: UInt32, _ name: String, key: Kind, value: Kind) -> Field {
            let entry = ProtobufSchema("\(name) entry", [Field(1, "key", key), Field(2, "value", value)])
            return Field(number, name, .message { entry }, .repeated)
        }
    }
}

extension ProtobufSchema.Field {
    /// Returns the descriptor of the field for libprotobuf-c.
    ///
    /// A singular message is declared as repeated, so that `MessageParts` merges a message that arrives in several
    /// parts. libprotobuf-c itself would lose unknown fields of the parts, and would fail on an empty oneof. Every
    /// other singular field is declared as optional, so that this module decides which fields must be present.
    func descriptor(at index: Int, name: UnsafePointer<CChar>, child: UnsafeRawPointer?) -> ProtobufCFieldDescriptor {
        var descriptor = ProtobufCFieldDescriptor()
        descriptor.name = name
        descriptor.id = number
        descriptor.type = kind.type
        descriptor.descriptor = child
        var slot = index
        switch rule {
        case .singular: descriptor.label = kind.isMessage ? PROTOBUF_C_LABEL_REPEATED : PROTOBUF_C_LABEL_OPTIONAL
        case .repeated: descriptor.label = PROTOBUF_C_LABEL_REPEATED
        case .packed:
            descriptor.label = PROTOBUF_C_LABEL_REPEATED
            descriptor.flags = PROTOBUF_C_FIELD_FLAG_PACKED.rawValue
        case .member(of: let first):
            descriptor.label = PROTOBUF_C_LABEL_OPTIONAL
            descriptor.flags = PROTOBUF_C_FIELD_FLAG_ONEOF.rawValue
            slot = first
        }
        descriptor.quantifier_offset = UInt32(ProtobufSlot.quantifierOffset(slot))
        descriptor.offset = UInt32(ProtobufSlot.valueOffset(slot))
        return descriptor
    }
}

extension ProtobufSchema.Kind {
    var isMessage: Bool { if case .message = self { true } else { false } }

    /// The type of the field for libprotobuf-c. Strings are declared as bytes, because a C string ends at U+0000.
    fileprivate var type: ProtobufCType {
        switch self {
        case .int32: PROTOBUF_C_TYPE_INT32
        case .sint32: PROTOBUF_C_TYPE_SINT32
        case .sfixed32: PROTOBUF_C_TYPE_SFIXED32
        case .uint32: PROTOBUF_C_TYPE_UINT32
        case .fixed32: PROTOBUF_C_TYPE_FIXED32
        case .int64: PROTOBUF_C_TYPE_INT64
        case .sint64: PROTOBUF_C_TYPE_SINT64
        case .sfixed64: PROTOBUF_C_TYPE_SFIXED64
        case .uint64: PROTOBUF_C_TYPE_UINT64
        case .fixed64: PROTOBUF_C_TYPE_FIXED64
        case .float: PROTOBUF_C_TYPE_FLOAT
        case .double: PROTOBUF_C_TYPE_DOUBLE
        case .bool: PROTOBUF_C_TYPE_BOOL
        case .enumeration: PROTOBUF_C_TYPE_ENUM
        case .string, .bytes: PROTOBUF_C_TYPE_BYTES
        case .message: PROTOBUF_C_TYPE_MESSAGE
        }
    }
}
