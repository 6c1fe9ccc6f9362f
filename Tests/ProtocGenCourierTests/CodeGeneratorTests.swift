import CourierProtobuf
import Foundation
import Testing

@testable import CourierProtobufGenerator

struct CodeGeneratorTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Lets protoc read the files, and generates code from them like the plugin of protoc.
    private func generate(
        _ files: [String], in folder: URL, options: String = ""
    ) throws -> CodeGeneratorResponse {
        let set = FileManager.default.temporaryDirectory.appending(path: "courier-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: set) }
        let protoc = Process()
        protoc.executableURL = URL(filePath: "/usr/bin/protoc")
        protoc.arguments =
            ["-I\(folder.path)", "--include_imports", "--include_source_info", "--descriptor_set_out=\(set.path)"]
            + files
        try protoc.run()
        protoc.waitUntilExit()
        try #require(protoc.terminationStatus == 0)
        let request = CodeGeneratorRequest(
            filesToGenerate: files, parameter: options,
            files: try FileDescriptorSet(protobufData: Data(contentsOf: set)).files)
        // The request is encoded and decoded, as with protoc.
        return CodeGenerator.response(to: try CodeGeneratorRequest(protobufData: request.protobufData()))
    }

    private func generate(source: String, options: String = "") throws -> CodeGeneratorResponse {
        let folder = FileManager.default.temporaryDirectory.appending(path: "courier-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try source.write(to: folder.appending(path: "test.proto"), atomically: true, encoding: .utf8)
        return try generate(["test.proto"], in: folder, options: options)
    }

    @Test(arguments: [
        ("everything.proto", "", "Tests/CourierProtobufTests/Generated"),
        ("legacy.proto", "", "Tests/CourierProtobufTests/Generated"),
        ("note.proto", "", "Tests/CourierProtobufTests/Generated"),
        ("shared.proto", "", "Tests/CourierProtobufTests/Generated"),
        ("descriptors.proto", "Visibility=package,ImportRuntime=false", "Sources/CourierProtobuf/Descriptors"),
        ("plugin.proto", "Visibility=package", "Sources/CourierProtobufGenerator"),
    ])
    func `the checked-in generated code equals the generator's current output`(
        file: String, options: String, folder: String
    ) throws {
        let protos = Self.root.appending(path: "Tests/CourierProtobufTests/Protos")
        let made = try #require(try generate([file], in: protos, options: options).files.first)
        let checkedIn = Self.root.appending(path: folder).appending(path: made.name)
        #expect(
            try made.content == String(contentsOf: checkedIn, encoding: .utf8),
            "raise CodeGenerator.version and run Protos/generate")
    }

    @Test func `comments of the proto file are copied into the Swift code`() throws {
        let response = try generate(
            source: """
                syntax = "proto3";
                // A thing.
                //
                // More on it.
                message Thing {
                  int32 number = 1;  // Its number.
                  /* A block. */
                  string text = 2;
                }
                """)
        let source = try #require(response.files.first?.content)
        #expect(source.contains("/// A thing.\n///\n/// More on it.\nstruct Thing: GeneratedProtobufMessage {"))
        #expect(source.contains("    /// Its number.\n    var number: Int32 = 0\n"))
        #expect(source.contains("    /// A block.\n    var text: String = \"\"\n"))
    }

    /// The code that is generated for a message type with this comment.
    private func source(leadingComments: String) throws -> String {
        let comment = SourceCodeInfo.Location(path: [4, 0], leadingComments: leadingComments)
        let file = FileDescriptor(
            name: "test.proto", messages: [MessageDescriptor(name: "Thing")],
            sourceCodeInfo: SourceCodeInfo(locations: [comment]), syntax: "proto3")
        let request = CodeGeneratorRequest(filesToGenerate: ["test.proto"], files: [file])
        return try #require(CodeGenerator.response(to: request).files.first?.content)
    }

    @Test(arguments: [" a\r\n b\r\n", " a\r b\r", " a\n b\n", "\r\n a\r b\n\r\n"])
    func `a proto comment has the same lines in Swift for all kinds of line endings`(comment: String) throws {
        let source = try source(leadingComments: comment)
        #expect(!source.utf8.contains(UInt8(ascii: "\r")))
        #expect(source.contains("\n/// a\n/// b\nstruct Thing: GeneratedProtobufMessage {"))
    }

    @Test func `blank CRLF lines of a comment are copied, and Unicode line separators do not split a line`() throws {
        #expect(try source(leadingComments: " a\r\n\r\n b\r\n").contains("\n/// a\n///\n/// b\nstruct Thing"))
        let text = "a\u{2028}b\u{2029}c\u{B}d\u{C}e\u{85}f"
        #expect(try source(leadingComments: " \(text)\r\n").contains("\n/// \(text)\nstruct Thing"))
    }

    @Test func `generator options set the visibility and the file names`() throws {
        let response = try generate(
            source: "syntax = \"proto3\"; message Thing {}",
            options: "Visibility=Public,FileNaming=PathToUnderscores")
        #expect(response.files.first?.content.contains("public struct Thing: GeneratedProtobufMessage {") == true)
        #expect(response.files.first?.content.contains("public import CourierProtobuf") == true)
        #expect(try GeneratorOptions("FileNaming=PathToUnderscores").output(for: "a/b.proto") == "a_b.pb.swift")
        #expect(try GeneratorOptions("").output(for: "a/b.proto") == "a/b.pb.swift")
    }

    @Test(arguments: ["Visibility=secret", "Speed=high", "ImportRuntime", "Version=0"])
    func `an invalid generator option returns an error and no files`(options: String) throws {
        let response = try generate(source: "syntax = \"proto3\"; message Thing {}", options: options)
        #expect(!response.error.isEmpty)
        #expect(response.files.isEmpty)
    }

    @Test func `the build plugin has the same version number as the generator`() throws {
        let settings = Self.root.appending(path: "Plugins/CourierProtobufPlugin/ProtobufSettings.swift")
        #expect(
            try String(contentsOf: settings, encoding: .utf8)
                .contains("static let generatorVersion = \(CodeGenerator.version)\n"))
    }

    @Test func `a proto2 group returns an error that names the group field`() throws {
        let response = try generate(source: "syntax = \"proto2\"; message Thing { optional group Part = 1 {} }")
        #expect(response.error.contains("test.proto: Thing: part is a group"))
    }

    @Test func `the option swift_prefix replaces the type prefix from the package name`() throws {
        let response = try generate(
            source: "syntax = \"proto3\"; package a.b; option swift_prefix = \"AB\"; message Thing { Thing thing = 1; }"
        )
        #expect(response.files.first?.content.contains("struct ABThing: GeneratedProtobufMessage") == true)
        #expect(response.files.first?.content.contains("@ProtobufIndirect var thing: ABThing? = nil") == true)
    }

    @Test func `two fields that map to the same Swift property name get distinct names`() throws {
        let response = try generate(
            source: "syntax = \"proto2\"; message Thing { optional int32 a_b = 1; optional int32 aB = 2; }")
        let source = try #require(response.files.first?.content)
        #expect(source.contains("var aB: Int32?"))
        #expect(source.contains("var aB_2: Int32?"))
    }

    @Test func `a oneof or nested type is renamed if its message uses an outer type of the same name`() throws {
        let response = try generate(
            source: """
                syntax = "proto3";
                message Command {}
                message Batch {
                  enum Command { NONE = 0; }
                  Command own = 1;
                  .Command other = 2;
                }
                message Request { oneof command { Command single = 1; Batch batch = 2; } }
                """)
        let source = try #require(response.files.first?.content)
        #expect(source.contains("    enum Command_: ProtobufEnum, CaseIterable {\n"))
        #expect(source.contains("var own: Batch.Command_ = Batch.Command_()\n"))
        #expect(source.contains("var other: Command?\n"))
        #expect(source.contains("    enum CommandOneof: Hashable, Sendable {\n"))
        #expect(source.contains("case single(Command)\n"))
        #expect(source.contains("var command: CommandOneof?\n"))
    }

    @Test func `a nested type or oneof is not renamed if the message does not use an outer type of the same name`()
        throws
    {
        let response = try generate(
            source: """
                syntax = "proto3";
                message Status {}
                message Payload {
                  enum Status { NONE = 0; }
                  map<string, int32> counts = 1;
                  oneof payload { string text = 2; }
                }
                """)
        let source = try #require(response.files.first?.content)
        #expect(source.contains("    enum Status: ProtobufEnum, CaseIterable {\n"))
        #expect(source.contains("    enum Payload: Hashable, Sendable {\n"))
    }

    @Test func `enum values that map to the same Swift keyword get distinct names`() throws {
        let response = try generate(
            source: """
                syntax = "proto3";
                enum Direction { option allow_alias = true; IN = 0; in = 0; OUT = 1; }
                """)
        let source = try #require(response.files.first?.content)
        #expect(source.contains("case `in`\n"))
        #expect(source.contains("static let in_0 = Direction.`in`\n"))
    }

    @Test func `enum aliases that map to the same Swift name get distinct names`() throws {
        let response = try generate(
            source: """
                syntax = "proto3";
                enum Sound { option allow_alias = true; A = 0; MOO = 2; moo = 2; Moo = 2; }
                """)
        let source = try #require(response.files.first?.content)
        #expect(source.contains("case moo\n"))
        #expect(source.contains("static let moo_2 = Sound.moo\n"))
        #expect(source.contains("static let moo_2_2 = Sound.moo\n"))
    }

    @Test func `a field or oneof named like a generated default property gets a distinct name`() throws {
        let response = try generate(
            source: """
                syntax = "proto2";
                message Thing {
                  optional string name_or_default = 2;
                  optional string name = 1 [default = "x"];
                  optional int32 count = 3 [default = 7];
                  oneof count_or_default { int32 number = 4; }
                }
                """)
        let source = try #require(response.files.first?.content)
        #expect(source.contains("var nameOrDefault_2: String?\n"))
        #expect(source.contains("var nameOrDefault: String { name ?? \"x\" }\n"))
        #expect(source.contains("var countOrDefault: Int32 { count ?? 7 }\n"))
        #expect(source.contains("var countOrDefaultOneof: CountOrDefault?\n"))
    }

    @Test func `using a Google enum without a Swift type returns an error that names the enum`() throws {
        let response = try generate(
            source: """
                syntax = "proto3";
                import "google/protobuf/type.proto";
                message Thing { google.protobuf.Syntax syntax = 1; }
                """)
        #expect(response.error.contains("google.protobuf.Syntax of google/protobuf/type.proto has no Swift type"))
    }
}
