import CourierCore
import Synchronization

/// The message types and enumerations of a descriptor set. They are validated, so that messages can be read and written
/// with them.
final class DynamicTypes: Sendable {
    enum Kind: Sendable {
        case int32, uint32, int64, uint64, float, double, bool, string, bytes
        case enumeration(String)
        case message(String)

        /// True if a repeated field of this kind can be packed: many values after one tag.
        var isPackable: Bool {
            switch self {
            case .string, .bytes, .message: false
            case .int32, .uint32, .int64, .uint64, .float, .double, .bool, .enumeration: true
            }
        }
    }

    enum Shape: Sendable {
        /// A single number, string, bytes or enumeration value. If `isOptional` is true, the field distinguishes
        /// "missing" from "zero or empty".
        case single(isOptional: Bool)
        case message
        case repeated
        case map(key: Kind, value: Kind)
        case member(first: Int)
    }

    struct Field: Sendable {
        let number: UInt32
        let name: String
        let jsonName: String
        let kind: Kind
        let shape: Shape
    }

    struct Message: Sendable {
        let name: String
        let fields: [Field]
        let schema: ProtobufSchema
    }

    struct Enumeration: Sendable {
        let names: [Int32: String]
        let numbers: [String: Int32]
        let first: Int32
    }

    /// The schemas by name, so that schemas can refer to each other.
    private final class Schemas: Sendable {
        let byName = Mutex<[String: ProtobufSchema]>([:])

        func schema(_ name: String) -> ProtobufSchema { byName.withLock { $0[name] } ?? ProtobufEmpty.protobufSchema }
    }

    let messages: [String: Message]
    let enumerations: [String: Enumeration]
    private let schemas: Schemas

    init(_ set: FileDescriptorSet) throws(CourierError) {
        var found = Found()
        for file in set.files {
            let scope = file.package.isEmpty ? "" : "\(file.package)."
            try found.add(file.messages, file.enums, scope: scope, isProto3: file.syntax == "proto3")
        }
        let schemas = Schemas()
        var messages: [String: Message] = [:]
        for (name, message) in found.messages {
            messages[name] = try Self.message(name, message.descriptor, message.isProto3, found, schemas)
        }
        schemas.byName.withLock { $0 = messages.mapValues(\.schema) }
        self.schemas = schemas
        self.messages = messages
        enumerations = found.enumerations
    }

    func message(_ name: String) throws(CourierError) -> Message {
        guard let message = messages[name] else {
            throw CourierError(.decodingFailed, "the descriptor set has no message type \(name.quoted())")
        }
        return message
    }

    // MARK: Reading the descriptor set

    private struct Found {
        var messages: [String: (descriptor: MessageDescriptor, isProto3: Bool)] = [:]
        var enumerations: [String: Enumeration] = [:]

        mutating func add(
            _ messages: [MessageDescriptor], _ enums: [EnumDescriptor], scope: String, isProto3: Bool
        ) throws(CourierError) {
            for enumeration in enums {
                enumerations[scope + enumeration.name] = Enumeration(
                    names: Dictionary(enumeration.values.map { ($0.number, $0.name) }) { first, _ in first },
                    numbers: Dictionary(enumeration.values.map { ($0.name, $0.number) }) { first, _ in first },
                    first: enumeration.values.first?.number ?? 0)
            }
            for message in messages {
                self.messages[scope + message.name] = (message, isProto3)
                try add(message.messages, message.enums, scope: "\(scope)\(message.name).", isProto3: isProto3)
            }
        }
    }

    private static func message(
        _ name: String, _ descriptor: MessageDescriptor, _ isProto3: Bool, _ found: Found, _ schemas: Schemas
    ) throws(CourierError) -> Message {
        func wrong(_ why: String) -> CourierError {
            CourierError(.decodingFailed, "the descriptor set is wrong: \(name.quoted()) \(why)")
        }
        // libprotobuf-c cannot read groups, so fields of this kind are left out of the type.
        let sorted = descriptor.fields.filter { $0.kind != .group }.sorted { $0.number < $1.number }
        var firsts: [Int32: Int] = [:]
        var fields: [Field] = []
        var schema: [ProtobufSchema.Field] = []
        for (index, field) in sorted.enumerated() {
            guard (1..<1 << 29).contains(field.number), index == 0 || sorted[index - 1].number < field.number else {
                throw wrong("has a field number \(field.number) that is out of range or used twice")
            }
            guard let (wireKind, kind) = kinds(field, found, schemas) else {
                throw wrong("has the field \(field.name.quoted()) of an unknown type")
            }
            var shape = Shape.single(isOptional: !isProto3 || field.proto3Optional)
            var rule = ProtobufSchema.Rule.singular
            if case .message(let child) = kind { shape = try Self.map(child, found, schemas, wrong) ?? .message }
            if field.label == .repeated {
                if case .map = shape {} else { shape = .repeated }
                rule = kind.isPackable && field.options?.packed ?? isProto3 ? .packed : .repeated
            } else if case .map = shape {
                shape = .message
            }
            if let oneof = field.oneofIndex, !field.proto3Optional, field.label != .repeated {
                let first = firsts[oneof] ?? index
                firsts[oneof] = first
                shape = .member(first: first)
                rule = .member(of: first)
            }
            let number = UInt32(field.number)
            fields.append(
                Field(
                    number: number, name: field.name, jsonName: field.jsonName.isEmpty ? field.name : field.jsonName,
                    kind: kind, shape: shape))
            schema.append(ProtobufSchema.Field(number, field.name, wireKind, rule))
        }
        return Message(name: name, fields: fields, schema: ProtobufSchema(name, schema))
    }

    /// Returns the shape of a map if the type is the entry type of a map; otherwise `nil`.
    private static func map(
        _ name: String, _ found: Found, _ schemas: Schemas, _ wrong: (String) -> CourierError
    ) throws(CourierError) -> Shape? {
        guard let entry = found.messages[name]?.descriptor, entry.options?.mapEntry == true else { return nil }
        let fields = entry.fields.sorted { $0.number < $1.number }
        guard fields.map(\.number) == [1, 2], fields.allSatisfy({ $0.label != .repeated && $0.oneofIndex == nil }),
            let key = kinds(fields[0], found, schemas)?.1, let value = kinds(fields[1], found, schemas)?.1
        else { throw wrong("has a map without a key or a value") }
        switch key {
        case .float, .double, .bytes, .enumeration, .message:
            throw wrong("has a map with keys of a forbidden type")
        case .int32, .uint32, .int64, .uint64, .bool, .string: return .map(key: key, value: value)
        }
    }

    private static func kinds(
        _ field: FieldDescriptor, _ found: Found, _ schemas: Schemas
    ) -> (ProtobufSchema.Kind, Kind)? {
        let name = String(field.typeName.drop { $0 == "." })
        switch field.kind {
        case .double: return (.double, .double)
        case .float: return (.float, .float)
        case .int64: return (.int64, .int64)
        case .uint64: return (.uint64, .uint64)
        case .int32: return (.int32, .int32)
        case .fixed64: return (.fixed64, .uint64)
        case .fixed32: return (.fixed32, .uint32)
        case .bool: return (.bool, .bool)
        case .string: return (.string, .string)
        case .bytes: return (.bytes, .bytes)
        case .uint32: return (.uint32, .uint32)
        case .sfixed32: return (.sfixed32, .int32)
        case .sfixed64: return (.sfixed64, .int64)
        case .sint32: return (.sint32, .int32)
        case .sint64: return (.sint64, .int64)
        case .enum: return found.enumerations[name].map { _ in (.enumeration, .enumeration(name)) }
        case .message:
            return found.messages[name].map { _ in
                (.message { [unowned schemas] in schemas.schema(name) }, .message(name))
            }
        case .group, .unspecified, .unrecognized: return nil
        }
    }
}
