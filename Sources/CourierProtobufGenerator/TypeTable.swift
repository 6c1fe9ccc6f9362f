import CourierProtobuf

/// All message types and enumerations of a request, by full name.
struct TypeTable {
    struct Message {
        let descriptor: MessageDescriptor
        let file: FileDescriptor
        /// The Swift name of the type, including the names of the enclosing types, such as `Outer.Inner`.
        let path: String
        /// The first components of the type paths that the source of this message uses. A nested type with such a name
        /// would hide the outer type, so the nested type is renamed.
        let outerNames: Set<String>

        var name: String { path.lastName }
    }

    struct Enumeration {
        let descriptor: EnumDescriptor
        let file: FileDescriptor
        let path: String
        let caseNames: [String]

        var name: String { path.lastName }
    }

    private(set) var messages: [String: Message] = [:]
    private(set) var enumerations: [String: Enumeration] = [:]
    /// The first component of the Swift path of each type, by full protobuf name.
    private var firstNames: [String: String] = [:]

    /// - Parameter files: All files of the request, including imported files.
    init(_ files: [FileDescriptor]) {
        for file in files {
            let (prefix, scope) = Self.prefixAndScope(file)
            for message in file.messages {
                addFirstName(message, scope, SwiftNames.type(message.name, prefix: prefix))
            }
            for enumeration in file.enums {
                firstNames["\(scope).\(enumeration.name)"] = SwiftNames.type(enumeration.name, prefix: prefix)
            }
        }
        for file in files {
            let (prefix, scope) = Self.prefixAndScope(file)
            for message in file.messages {
                add(message, file, scope, SwiftNames.type(message.name, prefix: prefix))
            }
            for enumeration in file.enums {
                add(enumeration, file, scope, SwiftNames.type(enumeration.name, prefix: prefix))
            }
        }
    }

    private static func prefixAndScope(_ file: FileDescriptor) -> (prefix: String, scope: String) {
        (
            file.options?.swiftPrefix ?? SwiftNames.prefix(package: file.package),
            file.package.isEmpty ? "" : ".\(file.package)"
        )
    }

    private mutating func addFirstName(_ message: MessageDescriptor, _ scope: String, _ firstName: String) {
        if message.options?.mapEntry == true { return }  // A map entry has no Swift type.
        let name = "\(scope).\(message.name)"
        firstNames[name] = firstName
        for nested in message.messages { addFirstName(nested, name, firstName) }
        for nested in message.enums { firstNames["\(name).\(nested.name)"] = firstName }
    }

    private mutating func add(
        _ message: MessageDescriptor, _ file: FileDescriptor, _ scope: String, _ path: String
    ) {
        let name = "\(scope).\(message.name)"
        let outerNames = namesUsed(in: message)
        messages[name] = Message(descriptor: message, file: file, path: path, outerNames: outerNames)
        func nestedPath(_ nested: String) -> String {
            let type = SwiftNames.type(nested)
            return "\(path).\(outerNames.contains(type) ? type + "_" : type)"
        }
        for nested in message.messages { add(nested, file, name, nestedPath(nested.name)) }
        for nested in message.enums { add(nested, file, name, nestedPath(nested.name)) }
    }

    /// Returns the first path components of the types of the message's fields, and of the fields of its nested
    /// messages.
    private func namesUsed(in message: MessageDescriptor) -> Set<String> {
        message.messages.reduce(into: Set(message.fields.compactMap { firstNames[$0.typeName] })) {
            $0.formUnion(namesUsed(in: $1))
        }
    }

    private mutating func add(
        _ enumeration: EnumDescriptor, _ file: FileDescriptor, _ scope: String, _ path: String
    ) {
        enumerations["\(scope).\(enumeration.name)"] = Enumeration(
            descriptor: enumeration, file: file, path: path, caseNames: EnumSource.caseNames(enumeration))
    }
}

extension String {
    /// The part of a path after its last dot.
    fileprivate var lastName: String { split(separator: ".").last.map(String.init) ?? self }
}
