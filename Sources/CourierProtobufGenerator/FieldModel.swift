import CourierProtobuf

/// One field, with all that the source of its message says about it.
struct FieldModel {
    enum Shape {
        /// Left out when it is zero or empty.
        case implicit
        /// `nil` when it is not there.
        case optional
        case required
        case repeated(isPacked: Bool)
        case map(key: ValueType)
        /// A case of the oneof that begins with the field at this place.
        case member(oneof: Int, first: Int)
    }

    let descriptor: FieldDescriptor
    /// The place in the order of numbers.
    let index: Int
    let name: String
    let value: ValueType
    let shape: Shape
    /// Whether the message would contain itself if this were stored in it.
    let isIndirect: Bool
    /// The default that the `.proto` file declares, as source.
    let declaredDefault: String?
    let comment: String

    /// The oneof that it belongs to.
    var oneof: Int? { if case .member(let oneof, _) = shape { oneof } else { nil } }

    /// How the functions of reader and writer for this shape end.
    var verb: String {
        switch shape {
        case .implicit: ""
        case .optional: value.isMessage ? "Message" : "Optional"
        case .required: value.isMessage ? "RequiredMessage" : "Required"
        case .repeated: "Repeated"
        case .map: "Map"
        case .member: "Member"
        }
    }

    /// Place and codecs, as the functions of reader and writer take them.
    var arguments: String {
        if case .map(let key) = shape { return "\(index), key: \(key.codec).self, value: \(value.codec).self" }
        return "\(index), \(value.codec).self"
    }

    /// The type of the property.
    var type: String {
        switch shape {
        case .implicit, .required, .member: value.swift
        case .optional: "\(value.swift)?"
        case .repeated: "[\(value.swift)]"
        case .map(let key): "[\(key.swift): \(value.swift)]"
        }
    }

    /// The value that the property starts with, as source.
    var initial: String {
        switch shape {
        case .optional: "nil"
        case .repeated: "[]"
        case .map: "[:]"
        case .implicit, .member: value.initial
        case .required: declaredDefault ?? value.initial
        }
    }

    /// The property with the declared default for when the field is not there.
    var orDefault: String? {
        guard case .optional = shape, declaredDefault != nil else { return nil }
        return SwiftNames.orDefault(name)
    }

    /// The property as an expression where a parameter is called `fields`.
    var reference: String { name == "fields" ? "self.fields" : name }

    /// Its line in the schema.
    var schema: String {
        let start = "(\(descriptor.number), \"\(descriptor.name)\", "
        switch shape {
        case .map(let key): return ".map\(start)key: \(key.kind), value: \(value.kind)),"
        case .repeated(let isPacked): return ".init\(start)\(value.kind), .\(isPacked ? "packed" : "repeated")),"
        case .member(_, let first): return ".init\(start)\(value.kind), .member(of: \(first))),"
        case .implicit, .optional, .required: return ".init\(start)\(value.kind)),"
        }
    }
}
