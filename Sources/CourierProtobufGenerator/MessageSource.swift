import CourierProtobuf

/// Generates the Swift source of a message type, with its nested types.
struct MessageSource {
    struct Oneof {
        let index: Int
        /// The name of the property for the oneof.
        let name: String
        let type: String
        let first: Int
        let members: [FieldModel]
        let comment: String
    }

    private struct Property {
        let name: String
        let type: String
        let initial: String
        let comment: String
        /// The field of the property; `nil` if the property represents a oneof.
        let field: FieldModel?

        /// The source of the property's declaration, with an initial value if the property needs one.
        var declaration: String {
            let isIndirect = field?.isIndirect == true
            return "var \(name): \(type)" + (initial == "nil" && !isIndirect ? "" : " = \(initial)")
        }
    }

    let descriptor: MessageDescriptor
    /// The full name of the message type, with a leading dot.
    let fullName: String
    let name: String
    let visibility: String
    let context: GeneratorContext
    let comments: Comments
    let path: [Int32]

    private let fields: [FieldModel]
    private let oneofs: [Oneof]

    init(
        _ descriptor: MessageDescriptor, fullName: String, name: String, visibility: String,
        context: GeneratorContext, comments: Comments, path: [Int32], isProto3: Bool
    ) throws(GeneratorError) {
        self.descriptor = descriptor
        self.fullName = fullName
        self.name = name
        self.visibility = visibility
        self.context = context
        self.comments = comments
        self.path = path
        fields = try FieldModels.make(
            descriptor, fullName: fullName, context: context, comments: comments, path: path, isProto3: isProto3)
        let taken = Self.nestedNames(descriptor, fullName, context.types)
            .union(context.types.messages[fullName]?.outerNames ?? [])
        oneofs = Self.oneofs(descriptor, fields, taken, comments, path)
    }

    private static func nestedNames(
        _ descriptor: MessageDescriptor, _ fullName: String, _ types: TypeTable
    ) -> Set<String> {
        Set(
            descriptor.messages.compactMap { types.messages["\(fullName).\($0.name)"]?.name }
                + descriptor.enums.compactMap { types.enumerations["\(fullName).\($0.name)"]?.name })
    }

    private static func oneofs(
        _ descriptor: MessageDescriptor, _ fields: [FieldModel], _ taken: Set<String>, _ comments: Comments,
        _ path: [Int32]
    ) -> [Oneof] {
        var names = Set(fields.filter { $0.oneof == nil }.map(\.name) + fields.compactMap(\.orDefault))
        var oneofs: [Oneof] = []
        for (index, oneof) in descriptor.oneofs.enumerated() {
            let members = fields.filter { $0.oneof == index }
            guard let first = members.first?.index else { continue }
            let type = SwiftNames.type(oneof.name)
            var name = SwiftNames.property(oneof.name)
            if !names.insert(name).inserted { name = "\(name.withoutBackticks)Oneof" }
            oneofs.append(
                Oneof(
                    index: index, name: name, type: taken.contains(type) ? "\(type)Oneof" : type, first: first,
                    members: members,
                    comment: comments.text(
                        path + [Comments.Step.oneof, Int32(index)],
                        else: "At most one of the fields of `\(oneof.name)`."))
            )
        }
        return oneofs
    }

    // MARK: The Swift struct

    func write(to source: inout SourceText) throws(GeneratorError) {
        source.comment(comments.text(path, else: "`\(descriptor.name)` of the `.proto` file."))
        if descriptor.options?.deprecated == true { source.line("@available(*, deprecated)") }
        var failure: GeneratorError?
        source.block("\(visibility)struct \(name): GeneratedProtobufMessage {") { source in
            do throws(GeneratorError) { try writeNestedTypes(to: &source) } catch { failure = error }
            for oneof in oneofs { write(oneof, to: &source) }
            writeProperties(to: &source)
            writeInitializers(to: &source)
            writeSchema(to: &source)
            writeReading(to: &source)
            writeWriting(to: &source)
        }
        if let failure { throw failure }
    }

    private func writeNestedTypes(to source: inout SourceText) throws(GeneratorError) {
        for (index, nested) in descriptor.enums.enumerated() {
            EnumSource(
                descriptor: nested, name: context.types.enumerations["\(fullName).\(nested.name)"]?.name ?? "",
                visibility: visibility, comments: comments, path: path + [Comments.Step.nestedEnum, Int32(index)]
            ).write(to: &source)
            source.line()
        }
        for (index, nested) in descriptor.messages.enumerated() where nested.options?.mapEntry != true {
            let nestedName = "\(fullName).\(nested.name)"
            try MessageSource(
                nested, fullName: nestedName, name: context.types.messages[nestedName]?.name ?? "",
                visibility: visibility, context: context, comments: comments,
                path: path + [Comments.Step.nestedMessage, Int32(index)],
                isProto3: context.isProto3(fullName)
            ).write(to: &source)
            source.line()
        }
    }

    private func write(_ oneof: Oneof, to source: inout SourceText) {
        source.comment(oneof.comment)
        source.block("\(visibility)enum \(oneof.type): Hashable, Sendable {") { source in
            for member in oneof.members {
                source.comment(member.comment)
                source.line("\(member.isIndirect ? "indirect " : "")case \(member.name)(\(member.value.swift))")
            }
        }
        source.line()
    }

    /// The properties in the order of the `.proto` file. A oneof has the position of its first member.
    private var properties: [Property] {
        var done: Set<Int> = []
        return descriptor.fields.compactMap { descriptor in
            guard let field = fields.first(where: { $0.descriptor.number == descriptor.number }) else { return nil }
            guard let index = field.oneof else {
                return Property(
                    name: field.name, type: field.type, initial: field.initial, comment: field.comment, field: field)
            }
            guard done.insert(index).inserted, let oneof = oneofs.first(where: { $0.index == index }) else {
                return nil
            }
            return Property(
                name: oneof.name, type: "\(oneof.type)?", initial: "nil", comment: oneof.comment, field: nil)
        }
    }

    private func writeProperties(to source: inout SourceText) {
        for property in properties {
            source.comment(property.comment)
            if property.field?.descriptor.options?.deprecated == true {
                source.comment("\n- Note: Deprecated in the `.proto` file.")
            }
            let wrapper = property.field?.isIndirect == true ? "@ProtobufIndirect " : ""
            source.line("\(wrapper)\(visibility)\(property.declaration)")
            if let field = property.field, let orDefault = field.orDefault, let value = field.declaredDefault {
                source.comment("``\(field.name)``, or the default that the `.proto` file declares.")
                source.line("\(visibility)var \(orDefault): \(field.value.swift) { \(field.name) ?? \(value) }")
            }
        }
        source.comment("Fields that this version of the `.proto` file does not have.")
        source.line("\(visibility)var unknownFields = ProtobufUnknownFields()")
        source.line()
    }

    private func writeInitializers(to source: inout SourceText) {
        source.comment("Makes a message whose fields all have their defaults.")
        source.line("\(visibility)init() {}")
        source.line()
        let properties = properties
        guard !properties.isEmpty else { return }
        source.comment("Makes a message.")
        source.block("\(visibility)init(", closing: ") {") { source in
            for (index, property) in properties.enumerated() {
                let comma = index + 1 < properties.count ? "," : ""
                source.line("\(property.name): \(property.type) = \(property.initial)\(comma)")
            }
        }
        source.indented { source in
            for property in properties { source.line("self.\(property.name) = \(property.name)") }
        }
        source.line("}")
        source.line()
    }

    // MARK: Schema, reading and writing

    private func writeSchema(to source: inout SourceText) {
        source.comment("The schema of the fields, for libprotobuf-c.")
        source.block("\(visibility)static let protobufSchema: ProtobufSchema = .init(", closing: ")") { source in
            source.line("\"\(fullName.dropFirst())\",")
            source.block("[", closing: "]") { source in
                for field in fields { source.line(field.schema) }
            }
        }
        source.line()
    }

    private func writeReading(to source: inout SourceText) {
        source.comment("Reads the fields that are present.")
        source.block("\(visibility)mutating func readProtobuf(_ fields: ProtobufReader) throws {") { source in
            for field in fields where field.oneof == nil {
                source.line("try fields.read\(field.verb)(\(field.arguments), into: &\(field.reference))")
            }
            for oneof in oneofs {
                source.cases(of: "fields.member(of: \(oneof.first))") { source in
                    for member in oneof.members {
                        source.line("case \(member.descriptor.number):")
                        source.indented { source in
                            let value = "try fields.readMember(of: \(oneof.first), \(member.arguments))"
                            source.line("self.\(oneof.name) = .\(member.name)(\(value))")
                        }
                    }
                    source.line("default: break")
                }
            }
            source.line("fields.readUnknown(into: &unknownFields)")
        }
        source.line()
    }

    private func writeWriting(to source: inout SourceText) {
        source.comment("Writes the fields.")
        source.block("\(visibility)func writeProtobuf(_ fields: ProtobufWriter) throws {") { source in
            for field in fields where field.oneof == nil {
                // The writer has no function for required messages. The property always has a value, so the function
                // for optional messages is used.
                let verb = field.verb == "RequiredMessage" ? "Message" : field.verb
                source.line("try fields.write\(verb)(\(field.arguments), \(field.reference))")
            }
            for oneof in oneofs {
                source.cases(of: "self.\(oneof.name)") { source in
                    for member in oneof.members {
                        let place = "of: \(oneof.first), \(member.index), number: \(member.descriptor.number)"
                        source.line("case .\(member.name)(let value):")
                        source.indented { source in
                            source.line("try fields.writeMember(\(place), \(member.value.codec).self, value)")
                        }
                    }
                    source.line("case nil: break")
                }
            }
            source.line("try fields.writeUnknown(unknownFields)")
        }
    }
}
