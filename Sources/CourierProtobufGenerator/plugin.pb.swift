// Made by protoc-gen-courier from plugin.proto. Changes would be lost.
// swift-format-ignore-file

package import CourierProtobuf

/// The request of protoc to a plugin.
package struct CodeGeneratorRequest: GeneratedProtobufMessage {
    /// `files_to_generate`.
    package var filesToGenerate: [String] = []
    /// `parameter`.
    package var parameter: String = ""
    /// `files`.
    package var files: [FileDescriptor] = []
    /// Fields that this version of the `.proto` file does not have.
    package var unknownFields = ProtobufUnknownFields()

    /// Makes a message whose fields all have their defaults.
    package init() {}

    /// Makes a message.
    package init(
        filesToGenerate: [String] = [],
        parameter: String = "",
        files: [FileDescriptor] = []
    ) {
        self.filesToGenerate = filesToGenerate
        self.parameter = parameter
        self.files = files
    }

    /// The schema of the fields, for libprotobuf-c.
    package static let protobufSchema: ProtobufSchema = .init(
        "CodeGeneratorRequest",
        [
            .init(1, "files_to_generate", .string, .repeated),
            .init(2, "parameter", .string),
            .init(15, "files", .message { FileDescriptor.protobufSchema }, .repeated),
        ]
    )

    /// Reads the fields that are present.
    package mutating func readProtobuf(_ fields: ProtobufReader) throws {
        try fields.readRepeated(0, ProtobufCodec.Text.self, into: &filesToGenerate)
        try fields.read(1, ProtobufCodec.Text.self, into: &parameter)
        try fields.readRepeated(2, ProtobufCodec.Message<FileDescriptor>.self, into: &files)
        fields.readUnknown(into: &unknownFields)
    }

    /// Writes the fields.
    package func writeProtobuf(_ fields: ProtobufWriter) throws {
        try fields.writeRepeated(0, ProtobufCodec.Text.self, filesToGenerate)
        try fields.write(1, ProtobufCodec.Text.self, parameter)
        try fields.writeRepeated(2, ProtobufCodec.Message<FileDescriptor>.self, files)
        try fields.writeUnknown(unknownFields)
    }
}

/// The response of a plugin.
package struct CodeGeneratorResponse: GeneratedProtobufMessage {
    /// One file to write.
    package struct File: GeneratedProtobufMessage {
        /// `name`.
        package var name: String = ""
        /// `content`.
        package var content: String = ""
        /// Fields that this version of the `.proto` file does not have.
        package var unknownFields = ProtobufUnknownFields()

        /// Makes a message whose fields all have their defaults.
        package init() {}

        /// Makes a message.
        package init(
            name: String = "",
            content: String = ""
        ) {
            self.name = name
            self.content = content
        }

        /// The schema of the fields, for libprotobuf-c.
        package static let protobufSchema: ProtobufSchema = .init(
            "CodeGeneratorResponse.File",
            [
                .init(1, "name", .string),
                .init(15, "content", .string),
            ]
        )

        /// Reads the fields that are present.
        package mutating func readProtobuf(_ fields: ProtobufReader) throws {
            try fields.read(0, ProtobufCodec.Text.self, into: &name)
            try fields.read(1, ProtobufCodec.Text.self, into: &content)
            fields.readUnknown(into: &unknownFields)
        }

        /// Writes the fields.
        package func writeProtobuf(_ fields: ProtobufWriter) throws {
            try fields.write(0, ProtobufCodec.Text.self, name)
            try fields.write(1, ProtobufCodec.Text.self, content)
            try fields.writeUnknown(unknownFields)
        }
    }

    /// `error`.
    package var error: String = ""
    /// `supported_features`.
    package var supportedFeatures: UInt64 = 0
    /// `files`.
    package var files: [CodeGeneratorResponse.File] = []
    /// Fields that this version of the `.proto` file does not have.
    package var unknownFields = ProtobufUnknownFields()

    /// Makes a message whose fields all have their defaults.
    package init() {}

    /// Makes a message.
    package init(
        error: String = "",
        supportedFeatures: UInt64 = 0,
        files: [CodeGeneratorResponse.File] = []
    ) {
        self.error = error
        self.supportedFeatures = supportedFeatures
        self.files = files
    }

    /// The schema of the fields, for libprotobuf-c.
    package static let protobufSchema: ProtobufSchema = .init(
        "CodeGeneratorResponse",
        [
            .init(1, "error", .string),
            .init(2, "supported_features", .uint64),
            .init(15, "files", .message { CodeGeneratorResponse.File.protobufSchema }, .repeated),
        ]
    )

    /// Reads the fields that are present.
    package mutating func readProtobuf(_ fields: ProtobufReader) throws {
        try fields.read(0, ProtobufCodec.Text.self, into: &error)
        try fields.read(1, ProtobufCodec.Number<UInt64>.self, into: &supportedFeatures)
        try fields.readRepeated(2, ProtobufCodec.Message<CodeGeneratorResponse.File>.self, into: &files)
        fields.readUnknown(into: &unknownFields)
    }

    /// Writes the fields.
    package func writeProtobuf(_ fields: ProtobufWriter) throws {
        try fields.write(0, ProtobufCodec.Text.self, error)
        try fields.write(1, ProtobufCodec.Number<UInt64>.self, supportedFeatures)
        try fields.writeRepeated(2, ProtobufCodec.Message<CodeGeneratorResponse.File>.self, files)
        try fields.writeUnknown(unknownFields)
    }
}
