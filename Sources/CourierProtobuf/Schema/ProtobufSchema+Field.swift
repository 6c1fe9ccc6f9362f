import CProtobufC

extension ProtobufSchema {
    /// What a field holds.
    public enum Kind: Sendable {
        // The names are those of the protobuf language.
        case int32, sint32, sfixed32, uint32, fixed32, int64, sint64, sfixed64, uint64, fixed64
        case float, double, bool, string, bytes
        /// A number that stands for a name.
        case enumeration
        /// A message. Its schema is asked for only when it is needed, since types may contain each other.
        case message(@Sendable () -> ProtobufSchema)
    }

    /// How often a field may be there.
    public enum Rule: Sendable {
        /// At most once.
        case singular
        /// Any number of times, each with its tag.
        case repeated
        /// Any number of times, all numbers behind one tag.
        case packed
        /// One of several fields at most; the number is the place of the first of them in the list of fields.
        case member(of: Int)
    }

    /// One field of a message type.
    public struct Field: Sendable {
        let number: UInt32
        let name: String
        let kind: Kind
        let rule: Rule

        /// Declares a field.
        ///
        /// - Parameters:
        ///   - number: Its number, 1 to 536,870,911.
        ///   - name: Its name in the `.proto` file.
        ///   - kind: What it holds.
        ///   - rule: How often it may be there, at most once unless given.
        public init(_ number: UInt32, _ name: String, _ kind: Kind, _ rule: Rule = .singular) {
            precondition((1..<1 << 29).contains(number), "\(name): \(number) is no field number")
            self.number = number
            self.name = name
            self.kind = kind
            self.rule = rule
        }

        /// Declares a map, which is on the wire a list of small messages with a key and a value.
        ///
        /// - Parameters:
        ///   - number: Its number, 1 to 536,870,911.
        ///   - name: Its name in the `.proto` file.
        ///   - key: What its keys are.
        ///   - value: What its values are.
        /// - Returns: The field.
        public static func map(_ number: UInt32, _ name: String, key: Kind, value: Kind) -> Field {
            let entry = ProtobufSchema("\(name) entry", [Field(1, "key", key), Field(2, "value", value)])
            return Field(number, name, .message { entry }, .repeated)
        }
    }
}

extension ProtobufSchema.Field {
    /// A single message is told to libprotobuf-c as a repeated one: when it comes in several parts, libprotobuf-c
    /// loses unknown fields and fails on an empty oneof, and our own merging does neither. All else that may be
    /// missing is told as optional, so that presence is ours to decide.
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

    /// Texts are told as bytes: as C strings they would end at U+0000.
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
