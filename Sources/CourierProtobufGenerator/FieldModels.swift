import CourierProtobuf

/// Creates the models of all fields of a message.
enum FieldModels {
    static func make(
        _ message: MessageDescriptor, fullName: String, context: GeneratorContext, comments: Comments, path: [Int32],
        isProto3: Bool
    ) throws(GeneratorError) -> [FieldModel] {
        let sorted = message.fields.enumerated().sorted { $0.element.number < $1.element.number }
        var firsts: [Int32: Int] = [:]  // The index in `sorted` of the first field of each oneof.
        for (index, field) in sorted.enumerated() {
            guard let oneof = field.element.oneofIndex, !field.element.proto3Optional else { continue }
            firsts[oneof] = firsts[oneof] ?? index
        }
        let names = names(message)
        var models: [FieldModel] = []
        for (index, (place, field)) in sorted.enumerated() {
            do throws(GeneratorError) {
                let (value, shape) = try valueAndShape(field, context, isProto3, firsts)
                models.append(
                    FieldModel(
                        descriptor: field, index: index, name: names[place], value: value, shape: shape,
                        isIndirect: isIndirect(shape, value, fullName, context),
                        declaredDefault: DefaultLiteral.source(field, in: context.types),
                        comment: comments.text(path + [Comments.Step.field, Int32(place)], else: "`\(field.name)`.")))
            } catch { throw GeneratorError("\(fullName.dropFirst()): \(error.message)") }
        }
        return models
    }

    private static func valueAndShape(
        _ field: FieldDescriptor, _ context: GeneratorContext, _ isProto3: Bool, _ firsts: [Int32: Int]
    ) throws(GeneratorError) -> (ValueType, FieldModel.Shape) {
        if let entry = context.types.messages[field.typeName]?.descriptor, entry.options?.mapEntry == true {
            guard let key = entry.fields.first(where: { $0.number == 1 }),
                let value = entry.fields.first(where: { $0.number == 2 })
            else { throw GeneratorError("the map \(field.name) has no key or no value") }
            return (try ValueType(value, in: context.types), .map(key: try ValueType(key, in: context.types)))
        }
        let value = try ValueType(field, in: context.types)
        if let oneof = field.oneofIndex, !field.proto3Optional, let first = firsts[oneof] {
            return (value, .member(oneof: Int(oneof), first: first))
        }
        switch field.label {
        case .repeated:
            let isPackable = !value.isMessage && field.kind != .string && field.kind != .bytes
            return (value, .repeated(isPacked: isPackable && field.options?.packed ?? isProto3))
        case .required: return (value, .required)
        default: return (value, value.isMessage || !isProto3 || field.proto3Optional ? .optional : .implicit)
        }
    }

    private static func isIndirect(
        _ shape: FieldModel.Shape, _ value: ValueType, _ message: String, _ context: GeneratorContext
    ) -> Bool {
        guard let name = value.messageName, context.containment.isCircular(message, name) else { return false }
        switch shape {
        case .optional, .member: return true
        case .implicit, .required, .repeated, .map: return false
        }
    }

    /// Returns the Swift name of each field. If two fields would have the same name, the later one gets its number as a
    /// suffix. A field also gets its number if its name equals the name of another field's default property.
    private static func names(_ message: MessageDescriptor) -> [String] {
        let withDefault = message.fields.filter { $0.label == .optional && $0.defaultValue != nil && !isInOneof($0) }
        let defaults = Set(withDefault.map { SwiftNames.orDefault(SwiftNames.property($0.name)) })
        var seen: Set<String> = []
        return message.fields.map { field in
            let isMember = isInOneof(field)
            let name = isMember ? SwiftNames.member(field.name) : SwiftNames.property(field.name)
            let isFree = seen.insert(name).inserted && (isMember || !defaults.contains(name))
            return isFree ? name : "\(name.withoutBackticks)_\(field.number)"
        }
    }

    private static func isInOneof(_ field: FieldDescriptor) -> Bool { field.oneofIndex != nil && !field.proto3Optional }
}
