// Made by protoc-gen-courier from descriptors.proto. Changes would be lost.
// swift-format-ignore-file

/// The output of `protoc --descriptor_set_out`.
package struct FileDescriptorSet: GeneratedProtobufMessage {
    /// `files`.
    package var files: [FileDescriptor] = []
    /// Fields that this version of the `.proto` file does not have.
    package var unknownFields = ProtobufUnknownFields()

    /// Makes a message whose fields all have their defaults.
    package init() {}

    /// Makes a message.
    package init(
        files: [FileDescriptor] = []
    ) {
        self.files = files
    }

    /// The schema of the fields, for libprotobuf-c.
    package static let protobufSchema: ProtobufSchema = .init(
        "FileDescriptorSet",
        [
            .init(1, "files", .message { FileDescriptor.protobufSchema }, .repeated),
        ]
    )

    /// Reads the fields that are present.
    package mutating func readProtobuf(_ fields: ProtobufReader) throws {
        try fields.readRepeated(0, ProtobufCodec.Message<FileDescriptor>.self, into: &files)
        fields.readUnknown(into: &unknownFields)
    }

    /// Writes the fields.
    package func writeProtobuf(_ fields: ProtobufWriter) throws {
        try fields.writeRepeated(0, ProtobufCodec.Message<FileDescriptor>.self, files)
        try fields.writeUnknown(unknownFields)
    }
}

/// One `.proto` file.
package struct FileDescriptor: GeneratedProtobufMessage {
    /// `name`.
    package var name: String = ""
    /// `package`.
    package var package: String = ""
    /// `dependencies`.
    package var dependencies: [String] = []
    /// `messages`.
    package var messages: [MessageDescriptor] = []
    /// `enums`.
    package var enums: [EnumDescriptor] = []
    /// `options`.
    package var options: FileOptions?
    /// `source_code_info`.
    package var sourceCodeInfo: SourceCodeInfo?
    /// `syntax`.
    package var syntax: String = ""
    /// Fields that this version of the `.proto` file does not have.
    package var unknownFields = ProtobufUnknownFields()

    /// Makes a message whose fields all have their defaults.
    package init() {}

    /// Makes a message.
    package init(
        name: String = "",
        package: String = "",
        dependencies: [String] = [],
        messages: [MessageDescriptor] = [],
        enums: [EnumDescriptor] = [],
        options: FileOptions? = nil,
        sourceCodeInfo: SourceCodeInfo? = nil,
        syntax: String = ""
    ) {
        self.name = name
        self.package = package
        self.dependencies = dependencies
        self.messages = messages
        self.enums = enums
        self.options = options
        self.sourceCodeInfo = sourceCodeInfo
        self.syntax = syntax
    }

    /// The schema of the fields, for libprotobuf-c.
    package static let protobufSchema: ProtobufSchema = .init(
        "FileDescriptor",
        [
            .init(1, "name", .string),
            .init(2, "package", .string),
            .init(3, "dependencies", .string, .repeated),
            .init(4, "messages", .message { MessageDescriptor.protobufSchema }, .repeated),
            .init(5, "enums", .message { EnumDescriptor.protobufSchema }, .repeated),
            .init(8, "options", .message { FileOptions.protobufSchema }),
            .init(9, "source_code_info", .message { SourceCodeInfo.protobufSchema }),
            .init(12, "syntax", .string),
        ]
    )

    /// Reads the fields that are present.
    package mutating func readProtobuf(_ fields: ProtobufReader) throws {
        try fields.read(0, ProtobufCodec.Text.self, into: &name)
        try fields.read(1, ProtobufCodec.Text.self, into: &package)
        try fields.readRepeated(2, ProtobufCodec.Text.self, into: &dependencies)
        try fields.readRepeated(3, ProtobufCodec.Message<MessageDescriptor>.self, into: &messages)
        try fields.readRepeated(4, ProtobufCodec.Message<EnumDescriptor>.self, into: &enums)
        try fields.readMessage(5, ProtobufCodec.Message<FileOptions>.self, into: &options)
        try fields.readMessage(6, ProtobufCodec.Message<SourceCodeInfo>.self, into: &sourceCodeInfo)
        try fields.read(7, ProtobufCodec.Text.self, into: &syntax)
        fields.readUnknown(into: &unknownFields)
    }

    /// Writes the fields.
    package func writeProtobuf(_ fields: ProtobufWriter) throws {
        try fields.write(0, ProtobufCodec.Text.self, name)
        try fields.write(1, ProtobufCodec.Text.self, package)
        try fields.writeRepeated(2, ProtobufCodec.Text.self, dependencies)
        try fields.writeRepeated(3, ProtobufCodec.Message<MessageDescriptor>.self, messages)
        try fields.writeRepeated(4, ProtobufCodec.Message<EnumDescriptor>.self, enums)
        try fields.writeMessage(5, ProtobufCodec.Message<FileOptions>.self, options)
        try fields.writeMessage(6, ProtobufCodec.Message<SourceCodeInfo>.self, sourceCodeInfo)
        try fields.write(7, ProtobufCodec.Text.self, syntax)
        try fields.writeUnknown(unknownFields)
    }
}

/// One message type.
package struct MessageDescriptor: GeneratedProtobufMessage {
    /// `name`.
    package var name: String = ""
    /// `fields`.
    package var fields: [FieldDescriptor] = []
    /// `messages`.
    package var messages: [MessageDescriptor] = []
    /// `enums`.
    package var enums: [EnumDescriptor] = []
    /// `options`.
    package var options: MessageOptions?
    /// `oneofs`.
    package var oneofs: [OneofDescriptor] = []
    /// Fields that this version of the `.proto` file does not have.
    package var unknownFields = ProtobufUnknownFields()

    /// Makes a message whose fields all have their defaults.
    package init() {}

    /// Makes a message.
    package init(
        name: String = "",
        fields: [FieldDescriptor] = [],
        messages: [MessageDescriptor] = [],
        enums: [EnumDescriptor] = [],
        options: MessageOptions? = nil,
        oneofs: [OneofDescriptor] = []
    ) {
        self.name = name
        self.fields = fields
        self.messages = messages
        self.enums = enums
        self.options = options
        self.oneofs = oneofs
    }

    /// The schema of the fields, for libprotobuf-c.
    package static let protobufSchema: ProtobufSchema = .init(
        "MessageDescriptor",
        [
            .init(1, "name", .string),
            .init(2, "fields", .message { FieldDescriptor.protobufSchema }, .repeated),
            .init(3, "messages", .message { MessageDescriptor.protobufSchema }, .repeated),
            .init(4, "enums", .message { EnumDescriptor.protobufSchema }, .repeated),
            .init(7, "options", .message { MessageOptions.protobufSchema }),
            .init(8, "oneofs", .message { OneofDescriptor.protobufSchema }, .repeated),
        ]
    )

    /// Reads the fields that are present.
    package mutating func readProtobuf(_ fields: ProtobufReader) throws {
        try fields.read(0, ProtobufCodec.Text.self, into: &name)
        try fields.readRepeated(1, ProtobufCodec.Message<FieldDescriptor>.self, into: &self.fields)
        try fields.readRepeated(2, ProtobufCodec.Message<MessageDescriptor>.self, into: &messages)
        try fields.readRepeated(3, ProtobufCodec.Message<EnumDescriptor>.self, into: &enums)
        try fields.readMessage(4, ProtobufCodec.Message<MessageOptions>.self, into: &options)
        try fields.readRepeated(5, ProtobufCodec.Message<OneofDescriptor>.self, into: &oneofs)
        fields.readUnknown(into: &unknownFields)
    }

    /// Writes the fields.
    package func writeProtobuf(_ fields: ProtobufWriter) throws {
        try fields.write(0, ProtobufCodec.Text.self, name)
        try fields.writeRepeated(1, ProtobufCodec.Message<FieldDescriptor>.self, self.fields)
        try fields.writeRepeated(2, ProtobufCodec.Message<MessageDescriptor>.self, messages)
        try fields.writeRepeated(3, ProtobufCodec.Message<EnumDescriptor>.self, enums)
        try fields.writeMessage(4, ProtobufCodec.Message<MessageOptions>.self, options)
        try fields.writeRepeated(5, ProtobufCodec.Message<OneofDescriptor>.self, oneofs)
        try fields.writeUnknown(unknownFields)
    }
}

/// One field.
package struct FieldDescriptor: GeneratedProtobufMessage {
    /// `Label` of the `.proto` file.
    package enum Label: ProtobufEnum, CaseIterable {
        /// `LABEL_UNSPECIFIED`, 0.
        case unspecified
        /// `LABEL_OPTIONAL`, 1.
        case optional
        /// `LABEL_REQUIRED`, 2.
        case required
        /// `LABEL_REPEATED`, 3.
        case repeated
        /// A number that the `.proto` file does not name.
        case unrecognized(Int32)

        /// All values that the `.proto` file names.
        package static let allCases: [Label] = [.unspecified, .optional, .required, .repeated]

        /// Makes `unspecified`.
        package init() { self = .unspecified }

        /// Makes the value for a number.
        package init(rawValue: Int32) {
            switch rawValue {
            case 0: self = .unspecified
            case 1: self = .optional
            case 2: self = .required
            case 3: self = .repeated
            default: self = .unrecognized(rawValue)
            }
        }

        /// The number on the wire.
        package var rawValue: Int32 {
            switch self {
            case .unspecified: 0
            case .optional: 1
            case .required: 2
            case .repeated: 3
            case .unrecognized(let number): number
            }
        }
    }

    /// `Kind` of the `.proto` file.
    package enum Kind: ProtobufEnum, CaseIterable {
        /// `KIND_UNSPECIFIED`, 0.
        case unspecified
        /// `KIND_DOUBLE`, 1.
        case double
        /// `KIND_FLOAT`, 2.
        case float
        /// `KIND_INT64`, 3.
        case int64
        /// `KIND_UINT64`, 4.
        case uint64
        /// `KIND_INT32`, 5.
        case int32
        /// `KIND_FIXED64`, 6.
        case fixed64
        /// `KIND_FIXED32`, 7.
        case fixed32
        /// `KIND_BOOL`, 8.
        case bool
        /// `KIND_STRING`, 9.
        case string
        /// `KIND_GROUP`, 10.
        case group
        /// `KIND_MESSAGE`, 11.
        case message
        /// `KIND_BYTES`, 12.
        case bytes
        /// `KIND_UINT32`, 13.
        case uint32
        /// `KIND_ENUM`, 14.
        case `enum`
        /// `KIND_SFIXED32`, 15.
        case sfixed32
        /// `KIND_SFIXED64`, 16.
        case sfixed64
        /// `KIND_SINT32`, 17.
        case sint32
        /// `KIND_SINT64`, 18.
        case sint64
        /// A number that the `.proto` file does not name.
        case unrecognized(Int32)

        /// All values that the `.proto` file names.
        package static let allCases: [Kind] = [.unspecified, .double, .float, .int64, .uint64, .int32, .fixed64, .fixed32, .bool, .string, .group, .message, .bytes, .uint32, .`enum`, .sfixed32, .sfixed64, .sint32, .sint64]

        /// Makes `unspecified`.
        package init() { self = .unspecified }

        /// Makes the value for a number.
        package init(rawValue: Int32) {
            switch rawValue {
            case 0: self = .unspecified
            case 1: self = .double
            case 2: self = .float
            case 3: self = .int64
            case 4: self = .uint64
            case 5: self = .int32
            case 6: self = .fixed64
            case 7: self = .fixed32
            case 8: self = .bool
            case 9: self = .string
            case 10: self = .group
            case 11: self = .message
            case 12: self = .bytes
            case 13: self = .uint32
            case 14: self = .`enum`
            case 15: self = .sfixed32
            case 16: self = .sfixed64
            case 17: self = .sint32
            case 18: self = .sint64
            default: self = .unrecognized(rawValue)
            }
        }

        /// The number on the wire.
        package var rawValue: Int32 {
            switch self {
            case .unspecified: 0
            case .double: 1
            case .float: 2
            case .int64: 3
            case .uint64: 4
            case .int32: 5
            case .fixed64: 6
            case .fixed32: 7
            case .bool: 8
            case .string: 9
            case .group: 10
            case .message: 11
            case .bytes: 12
            case .uint32: 13
            case .`enum`: 14
            case .sfixed32: 15
            case .sfixed64: 16
            case .sint32: 17
            case .sint64: 18
            case .unrecognized(let number): number
            }
        }
    }

    /// `name`.
    package var name: String = ""
    /// `number`.
    package var number: Int32 = 0
    /// `label`.
    package var label: FieldDescriptor.Label = FieldDescriptor.Label()
    /// `kind`.
    package var kind: FieldDescriptor.Kind = FieldDescriptor.Kind()
    /// `type_name`.
    package var typeName: String = ""
    /// `default_value`.
    package var defaultValue: String?
    /// `options`.
    package var options: FieldOptions?
    /// `oneof_index`.
    package var oneofIndex: Int32?
    /// `json_name`.
    package var jsonName: String = ""
    /// `proto3_optional`.
    package var proto3Optional: Bool = false
    /// Fields that this version of the `.proto` file does not have.
    package var unknownFields = ProtobufUnknownFields()

    /// Makes a message whose fields all have their defaults.
    package init() {}

    /// Makes a message.
    package init(
        name: String = "",
        number: Int32 = 0,
        label: FieldDescriptor.Label = FieldDescriptor.Label(),
        kind: FieldDescriptor.Kind = FieldDescriptor.Kind(),
        typeName: String = "",
        defaultValue: String? = nil,
        options: FieldOptions? = nil,
        oneofIndex: Int32? = nil,
        jsonName: String = "",
        proto3Optional: Bool = false
    ) {
        self.name = name
        self.number = number
        self.label = label
        self.kind = kind
        self.typeName = typeName
        self.defaultValue = defaultValue
        self.options = options
        self.oneofIndex = oneofIndex
        self.jsonName = jsonName
        self.proto3Optional = proto3Optional
    }

    /// The schema of the fields, for libprotobuf-c.
    package static let protobufSchema: ProtobufSchema = .init(
        "FieldDescriptor",
        [
            .init(1, "name", .string),
            .init(3, "number", .int32),
            .init(4, "label", .enumeration),
            .init(5, "kind", .enumeration),
            .init(6, "type_name", .string),
            .init(7, "default_value", .string),
            .init(8, "options", .message { FieldOptions.protobufSchema }),
            .init(9, "oneof_index", .int32),
            .init(10, "json_name", .string),
            .init(17, "proto3_optional", .bool),
        ]
    )

    /// Reads the fields that are present.
    package mutating func readProtobuf(_ fields: ProtobufReader) throws {
        try fields.read(0, ProtobufCodec.Text.self, into: &name)
        try fields.read(1, ProtobufCodec.Number<Int32>.self, into: &number)
        try fields.read(2, ProtobufCodec.Enumeration<FieldDescriptor.Label>.self, into: &label)
        try fields.read(3, ProtobufCodec.Enumeration<FieldDescriptor.Kind>.self, into: &kind)
        try fields.read(4, ProtobufCodec.Text.self, into: &typeName)
        try fields.readOptional(5, ProtobufCodec.Text.self, into: &defaultValue)
        try fields.readMessage(6, ProtobufCodec.Message<FieldOptions>.self, into: &options)
        try fields.readOptional(7, ProtobufCodec.Number<Int32>.self, into: &oneofIndex)
        try fields.read(8, ProtobufCodec.Text.self, into: &jsonName)
        try fields.read(9, ProtobufCodec.Flag.self, into: &proto3Optional)
        fields.readUnknown(into: &unknownFields)
    }

    /// Writes the fields.
    package func writeProtobuf(_ fields: ProtobufWriter) throws {
        try fields.write(0, ProtobufCodec.Text.self, name)
        try fields.write(1, ProtobufCodec.Number<Int32>.self, number)
        try fields.write(2, ProtobufCodec.Enumeration<FieldDescriptor.Label>.self, label)
        try fields.write(3, ProtobufCodec.Enumeration<FieldDescriptor.Kind>.self, kind)
        try fields.write(4, ProtobufCodec.Text.self, typeName)
        try fields.writeOptional(5, ProtobufCodec.Text.self, defaultValue)
        try fields.writeMessage(6, ProtobufCodec.Message<FieldOptions>.self, options)
        try fields.writeOptional(7, ProtobufCodec.Number<Int32>.self, oneofIndex)
        try fields.write(8, ProtobufCodec.Text.self, jsonName)
        try fields.write(9, ProtobufCodec.Flag.self, proto3Optional)
        try fields.writeUnknown(unknownFields)
    }
}

/// One oneof.
package struct OneofDescriptor: GeneratedProtobufMessage {
    /// `name`.
    package var name: String = ""
    /// Fields that this version of the `.proto` file does not have.
    package var unknownFields = ProtobufUnknownFields()

    /// Makes a message whose fields all have their defaults.
    package init() {}

    /// Makes a message.
    package init(
        name: String = ""
    ) {
        self.name = name
    }

    /// The schema of the fields, for libprotobuf-c.
    package static let protobufSchema: ProtobufSchema = .init(
        "OneofDescriptor",
        [
            .init(1, "name", .string),
        ]
    )

    /// Reads the fields that are present.
    package mutating func readProtobuf(_ fields: ProtobufReader) throws {
        try fields.read(0, ProtobufCodec.Text.self, into: &name)
        fields.readUnknown(into: &unknownFields)
    }

    /// Writes the fields.
    package func writeProtobuf(_ fields: ProtobufWriter) throws {
        try fields.write(0, ProtobufCodec.Text.self, name)
        try fields.writeUnknown(unknownFields)
    }
}

/// One enumeration.
package struct EnumDescriptor: GeneratedProtobufMessage {
    /// `name`.
    package var name: String = ""
    /// `values`.
    package var values: [EnumValueDescriptor] = []
    /// `options`.
    package var options: EnumOptions?
    /// Fields that this version of the `.proto` file does not have.
    package var unknownFields = ProtobufUnknownFields()

    /// Makes a message whose fields all have their defaults.
    package init() {}

    /// Makes a message.
    package init(
        name: String = "",
        values: [EnumValueDescriptor] = [],
        options: EnumOptions? = nil
    ) {
        self.name = name
        self.values = values
        self.options = options
    }

    /// The schema of the fields, for libprotobuf-c.
    package static let protobufSchema: ProtobufSchema = .init(
        "EnumDescriptor",
        [
            .init(1, "name", .string),
            .init(2, "values", .message { EnumValueDescriptor.protobufSchema }, .repeated),
            .init(3, "options", .message { EnumOptions.protobufSchema }),
        ]
    )

    /// Reads the fields that are present.
    package mutating func readProtobuf(_ fields: ProtobufReader) throws {
        try fields.read(0, ProtobufCodec.Text.self, into: &name)
        try fields.readRepeated(1, ProtobufCodec.Message<EnumValueDescriptor>.self, into: &values)
        try fields.readMessage(2, ProtobufCodec.Message<EnumOptions>.self, into: &options)
        fields.readUnknown(into: &unknownFields)
    }

    /// Writes the fields.
    package func writeProtobuf(_ fields: ProtobufWriter) throws {
        try fields.write(0, ProtobufCodec.Text.self, name)
        try fields.writeRepeated(1, ProtobufCodec.Message<EnumValueDescriptor>.self, values)
        try fields.writeMessage(2, ProtobufCodec.Message<EnumOptions>.self, options)
        try fields.writeUnknown(unknownFields)
    }
}

/// One value of an enumeration.
package struct EnumValueDescriptor: GeneratedProtobufMessage {
    /// `name`.
    package var name: String = ""
    /// `number`.
    package var number: Int32 = 0
    /// `options`.
    package var options: EnumValueOptions?
    /// Fields that this version of the `.proto` file does not have.
    package var unknownFields = ProtobufUnknownFields()

    /// Makes a message whose fields all have their defaults.
    package init() {}

    /// Makes a message.
    package init(
        name: String = "",
        number: Int32 = 0,
        options: EnumValueOptions? = nil
    ) {
        self.name = name
        self.number = number
        self.options = options
    }

    /// The schema of the fields, for libprotobuf-c.
    package static let protobufSchema: ProtobufSchema = .init(
        "EnumValueDescriptor",
        [
            .init(1, "name", .string),
            .init(2, "number", .int32),
            .init(3, "options", .message { EnumValueOptions.protobufSchema }),
        ]
    )

    /// Reads the fields that are present.
    package mutating func readProtobuf(_ fields: ProtobufReader) throws {
        try fields.read(0, ProtobufCodec.Text.self, into: &name)
        try fields.read(1, ProtobufCodec.Number<Int32>.self, into: &number)
        try fields.readMessage(2, ProtobufCodec.Message<EnumValueOptions>.self, into: &options)
        fields.readUnknown(into: &unknownFields)
    }

    /// Writes the fields.
    package func writeProtobuf(_ fields: ProtobufWriter) throws {
        try fields.write(0, ProtobufCodec.Text.self, name)
        try fields.write(1, ProtobufCodec.Number<Int32>.self, number)
        try fields.writeMessage(2, ProtobufCodec.Message<EnumValueOptions>.self, options)
        try fields.writeUnknown(unknownFields)
    }
}

/// The options of a file.
package struct FileOptions: GeneratedProtobufMessage {
    /// `swift_prefix`.
    package var swiftPrefix: String?
    /// Fields that this version of the `.proto` file does not have.
    package var unknownFields = ProtobufUnknownFields()

    /// Makes a message whose fields all have their defaults.
    package init() {}

    /// Makes a message.
    package init(
        swiftPrefix: String? = nil
    ) {
        self.swiftPrefix = swiftPrefix
    }

    /// The schema of the fields, for libprotobuf-c.
    package static let protobufSchema: ProtobufSchema = .init(
        "FileOptions",
        [
            .init(39, "swift_prefix", .string),
        ]
    )

    /// Reads the fields that are present.
    package mutating func readProtobuf(_ fields: ProtobufReader) throws {
        try fields.readOptional(0, ProtobufCodec.Text.self, into: &swiftPrefix)
        fields.readUnknown(into: &unknownFields)
    }

    /// Writes the fields.
    package func writeProtobuf(_ fields: ProtobufWriter) throws {
        try fields.writeOptional(0, ProtobufCodec.Text.self, swiftPrefix)
        try fields.writeUnknown(unknownFields)
    }
}

/// The options of a message type.
package struct MessageOptions: GeneratedProtobufMessage {
    /// `deprecated`.
    package var deprecated: Bool = false
    /// `map_entry`.
    package var mapEntry: Bool = false
    /// Fields that this version of the `.proto` file does not have.
    package var unknownFields = ProtobufUnknownFields()

    /// Makes a message whose fields all have their defaults.
    package init() {}

    /// Makes a message.
    package init(
        deprecated: Bool = false,
        mapEntry: Bool = false
    ) {
        self.deprecated = deprecated
        self.mapEntry = mapEntry
    }

    /// The schema of the fields, for libprotobuf-c.
    package static let protobufSchema: ProtobufSchema = .init(
        "MessageOptions",
        [
            .init(3, "deprecated", .bool),
            .init(7, "map_entry", .bool),
        ]
    )

    /// Reads the fields that are present.
    package mutating func readProtobuf(_ fields: ProtobufReader) throws {
        try fields.read(0, ProtobufCodec.Flag.self, into: &deprecated)
        try fields.read(1, ProtobufCodec.Flag.self, into: &mapEntry)
        fields.readUnknown(into: &unknownFields)
    }

    /// Writes the fields.
    package func writeProtobuf(_ fields: ProtobufWriter) throws {
        try fields.write(0, ProtobufCodec.Flag.self, deprecated)
        try fields.write(1, ProtobufCodec.Flag.self, mapEntry)
        try fields.writeUnknown(unknownFields)
    }
}

/// The options of a field.
package struct FieldOptions: GeneratedProtobufMessage {
    /// `packed`.
    package var packed: Bool?
    /// `deprecated`.
    package var deprecated: Bool = false
    /// Fields that this version of the `.proto` file does not have.
    package var unknownFields = ProtobufUnknownFields()

    /// Makes a message whose fields all have their defaults.
    package init() {}

    /// Makes a message.
    package init(
        packed: Bool? = nil,
        deprecated: Bool = false
    ) {
        self.packed = packed
        self.deprecated = deprecated
    }

    /// The schema of the fields, for libprotobuf-c.
    package static let protobufSchema: ProtobufSchema = .init(
        "FieldOptions",
        [
            .init(2, "packed", .bool),
            .init(3, "deprecated", .bool),
        ]
    )

    /// Reads the fields that are present.
    package mutating func readProtobuf(_ fields: ProtobufReader) throws {
        try fields.readOptional(0, ProtobufCodec.Flag.self, into: &packed)
        try fields.read(1, ProtobufCodec.Flag.self, into: &deprecated)
        fields.readUnknown(into: &unknownFields)
    }

    /// Writes the fields.
    package func writeProtobuf(_ fields: ProtobufWriter) throws {
        try fields.writeOptional(0, ProtobufCodec.Flag.self, packed)
        try fields.write(1, ProtobufCodec.Flag.self, deprecated)
        try fields.writeUnknown(unknownFields)
    }
}

/// The options of an enumeration.
package struct EnumOptions: GeneratedProtobufMessage {
    /// `deprecated`.
    package var deprecated: Bool = false
    /// Fields that this version of the `.proto` file does not have.
    package var unknownFields = ProtobufUnknownFields()

    /// Makes a message whose fields all have their defaults.
    package init() {}

    /// Makes a message.
    package init(
        deprecated: Bool = false
    ) {
        self.deprecated = deprecated
    }

    /// The schema of the fields, for libprotobuf-c.
    package static let protobufSchema: ProtobufSchema = .init(
        "EnumOptions",
        [
            .init(3, "deprecated", .bool),
        ]
    )

    /// Reads the fields that are present.
    package mutating func readProtobuf(_ fields: ProtobufReader) throws {
        try fields.read(0, ProtobufCodec.Flag.self, into: &deprecated)
        fields.readUnknown(into: &unknownFields)
    }

    /// Writes the fields.
    package func writeProtobuf(_ fields: ProtobufWriter) throws {
        try fields.write(0, ProtobufCodec.Flag.self, deprecated)
        try fields.writeUnknown(unknownFields)
    }
}

/// The options of a value of an enumeration.
package struct EnumValueOptions: GeneratedProtobufMessage {
    /// `deprecated`.
    package var deprecated: Bool = false
    /// Fields that this version of the `.proto` file does not have.
    package var unknownFields = ProtobufUnknownFields()

    /// Makes a message whose fields all have their defaults.
    package init() {}

    /// Makes a message.
    package init(
        deprecated: Bool = false
    ) {
        self.deprecated = deprecated
    }

    /// The schema of the fields, for libprotobuf-c.
    package static let protobufSchema: ProtobufSchema = .init(
        "EnumValueOptions",
        [
            .init(1, "deprecated", .bool),
        ]
    )

    /// Reads the fields that are present.
    package mutating func readProtobuf(_ fields: ProtobufReader) throws {
        try fields.read(0, ProtobufCodec.Flag.self, into: &deprecated)
        fields.readUnknown(into: &unknownFields)
    }

    /// Writes the fields.
    package func writeProtobuf(_ fields: ProtobufWriter) throws {
        try fields.write(0, ProtobufCodec.Flag.self, deprecated)
        try fields.writeUnknown(unknownFields)
    }
}

/// The positions of declarations in a file, and the comments next to them.
package struct SourceCodeInfo: GeneratedProtobufMessage {
    /// `Location` of the `.proto` file.
    package struct Location: GeneratedProtobufMessage {
        /// `path`.
        package var path: [Int32] = []
        /// `span`.
        package var span: [Int32] = []
        /// `leading_comments`.
        package var leadingComments: String = ""
        /// `trailing_comments`.
        package var trailingComments: String = ""
        /// Fields that this version of the `.proto` file does not have.
        package var unknownFields = ProtobufUnknownFields()

        /// Makes a message whose fields all have their defaults.
        package init() {}

        /// Makes a message.
        package init(
            path: [Int32] = [],
            span: [Int32] = [],
            leadingComments: String = "",
            trailingComments: String = ""
        ) {
            self.path = path
            self.span = span
            self.leadingComments = leadingComments
            self.trailingComments = trailingComments
        }

        /// The schema of the fields, for libprotobuf-c.
        package static let protobufSchema: ProtobufSchema = .init(
            "SourceCodeInfo.Location",
            [
                .init(1, "path", .int32, .packed),
                .init(2, "span", .int32, .packed),
                .init(3, "leading_comments", .string),
                .init(4, "trailing_comments", .string),
            ]
        )

        /// Reads the fields that are present.
        package mutating func readProtobuf(_ fields: ProtobufReader) throws {
            try fields.readRepeated(0, ProtobufCodec.Number<Int32>.self, into: &path)
            try fields.readRepeated(1, ProtobufCodec.Number<Int32>.self, into: &span)
            try fields.read(2, ProtobufCodec.Text.self, into: &leadingComments)
            try fields.read(3, ProtobufCodec.Text.self, into: &trailingComments)
            fields.readUnknown(into: &unknownFields)
        }

        /// Writes the fields.
        package func writeProtobuf(_ fields: ProtobufWriter) throws {
            try fields.writeRepeated(0, ProtobufCodec.Number<Int32>.self, path)
            try fields.writeRepeated(1, ProtobufCodec.Number<Int32>.self, span)
            try fields.write(2, ProtobufCodec.Text.self, leadingComments)
            try fields.write(3, ProtobufCodec.Text.self, trailingComments)
            try fields.writeUnknown(unknownFields)
        }
    }

    /// `locations`.
    package var locations: [SourceCodeInfo.Location] = []
    /// Fields that this version of the `.proto` file does not have.
    package var unknownFields = ProtobufUnknownFields()

    /// Makes a message whose fields all have their defaults.
    package init() {}

    /// Makes a message.
    package init(
        locations: [SourceCodeInfo.Location] = []
    ) {
        self.locations = locations
    }

    /// The schema of the fields, for libprotobuf-c.
    package static let protobufSchema: ProtobufSchema = .init(
        "SourceCodeInfo",
        [
            .init(1, "locations", .message { SourceCodeInfo.Location.protobufSchema }, .repeated),
        ]
    )

    /// Reads the fields that are present.
    package mutating func readProtobuf(_ fields: ProtobufReader) throws {
        try fields.readRepeated(0, ProtobufCodec.Message<SourceCodeInfo.Location>.self, into: &locations)
        fields.readUnknown(into: &unknownFields)
    }

    /// Writes the fields.
    package func writeProtobuf(_ fields: ProtobufWriter) throws {
        try fields.writeRepeated(0, ProtobufCodec.Message<SourceCodeInfo.Location>.self, locations)
        try fields.writeUnknown(unknownFields)
    }
}
