import CourierProtobuf

/// One field of a message, with all data that its generated source needs.
struct FieldModel {
    enum Shape {
        /// A field without presence: it is not written if its value is zero or empty.
        case implicit
        /// An optional property that is `nil` if the field is missing.
        case optional
        case required
        case repeated(isPacked: Bool)
        case map(key: ValueType)
        /// A member of a oneof. `first` is the index of the oneof's first field.
        case member(oneof: Int, first: Int)
    }

    let descriptor: FieldDescriptor
    /// The index of the field when the fields are in the order of their numbers.
    let index: Int
    let name: String
    let value: ValueType
    let shape: Shape
    /// True if the message would contain itself when the field is stored inline. The field is then stored in a box on
    /// the heap.
    let isIndirect: Bool
    /// The default value from the `.proto` file, as Swift source; `nil` if the file declares none.
    let declaredDefault: String?
    let comment: String

    /// The index of the oneof that the field belongs to; `nil` if it belongs to none.
    var oneof: Int? { if case .member(let oneof, _) = shape { oneof } else { nil } }

    /// The suffix of the functions that read and write this kind of field, such as `Optional` for `readOptional`.
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

    /// The index and the codecs of the field, as arguments for the reader and writer functions.
    var arguments: String {
        if case .map(let key) = shape { return "\(index), key: \(key.codec).self, value: \(value.codec).self" }
        return "\(index), \(value.codec).self"
    }

    /// The Swift type of the property.
    var type: String {
        switch shape {
        case .implicit, .required, .member: value.swift
        case .optional: "\(value.swift)?"
        case .repeated: "[\(value.swift)]"
        case .map(let key): "[\(key.swift): \(value.swift)]"
        }
    }

    /// The initial value of the property, as Swift source.
    var initial: String {
        switch shape {
        case .optional: "nil"
        case .repeated: "[]"
        case .map: "[:]"
        case .implicit, .member: value.initial
        case .required: declaredDefault ?? value.initial
        }
    }

    /// The name of the additional property that returns the declared default if the field is missing; `nil` if the
    /// field needs none.
    var orDefault: String? {
        guard case .optional = shape, declaredDefault != nil else { return nil }
        return SwiftNames.orDefault(name)
    }

    /// The expression for the property inside a function that has a parameter named `fields`.
    var reference: String { name == "fields" ? "self.fields" : name }

    /// The line that declares the field in the schema.
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
