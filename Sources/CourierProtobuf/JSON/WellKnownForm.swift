/// Google's well-known types that have a short form in JSON. A type is recognized only if it has the expected name and
/// fields.
enum WellKnownForm {
    case timestamp, duration, wrapper, fieldMask, structure, value, list, any

    init?(_ type: DynamicTypes.Message) {
        let reference: ProtobufSchema
        switch type.name {
        case "google.protobuf.Timestamp": (self, reference) = (.timestamp, ProtobufTimestamp.protobufSchema)
        case "google.protobuf.Duration": (self, reference) = (.duration, .duration)
        case "google.protobuf.FieldMask": (self, reference) = (.fieldMask, ProtobufFieldMask.protobufSchema)
        case "google.protobuf.Struct": (self, reference) = (.structure, .structure)
        case "google.protobuf.Value": (self, reference) = (.value, .value)
        case "google.protobuf.ListValue": (self, reference) = (.list, .list)
        case "google.protobuf.Any": (self, reference) = (.any, ProtobufAny.protobufSchema)
        case "google.protobuf.DoubleValue": (self, reference) = (.wrapper, .wrappedDouble)
        case "google.protobuf.FloatValue": (self, reference) = (.wrapper, .wrappedFloat)
        case "google.protobuf.Int64Value": (self, reference) = (.wrapper, .wrappedInt64)
        case "google.protobuf.UInt64Value": (self, reference) = (.wrapper, .wrappedUInt64)
        case "google.protobuf.Int32Value": (self, reference) = (.wrapper, .wrappedInt32)
        case "google.protobuf.UInt32Value": (self, reference) = (.wrapper, .wrappedUInt32)
        case "google.protobuf.BoolValue": (self, reference) = (.wrapper, .wrappedBool)
        case "google.protobuf.StringValue": (self, reference) = (.wrapper, .wrappedString)
        case "google.protobuf.BytesValue": (self, reference) = (.wrapper, .wrappedBytes)
        default: return nil
        }
        // A hostile descriptor set can give the name of a well-known type to any type. The fields are read by index, so
        // a type with different fields is not accepted.
        guard reference.hasSameLayout(as: type.schema) else { return nil }
    }
}

extension ProtobufSchema {
    fileprivate func hasSameLayout(as other: ProtobufSchema) -> Bool {
        fields.count == other.fields.count
            && zip(fields, other.fields).allSatisfy { $0.number == $1.number && $0.layout == $1.layout }
    }
}

extension ProtobufSchema.Field {
    /// The kind and the rule of the field as a comparable text. Message types are compared by name.
    fileprivate var layout: String {
        let rule =
            switch self.rule {
            case .singular: "singular"
            case .repeated, .packed: "repeated"
            case .member(let first): "member of \(first)"
            }
        if case .message(let schema) = kind {
            let name = schema().name
            return name.hasSuffix("entry") || name.hasSuffix("Entry") ? "entry, \(rule)" : "\(name), \(rule)"
        }
        return "\(kind), \(rule)"
    }
}
