import CourierProtobuf

/// Every message type and enumeration of a request, by its full name.
struct TypeTable {
    struct Message {
        let descriptor: MessageDescriptor
        let file: FileDescriptor
        /// The name in Swift, with those of the types around it.
        let path: String
    }

    struct Enumeration {
        let descriptor: EnumDescriptor
        let file: FileDescriptor
        let path: String
        let caseNames: [String]
    }

    private(set) var messages: [String: Message] = [:]
    private(set) var enumerations: [String: Enumeration] = [:]

    /// - Parameter files: All files, with those they import.
    init(_ files: [FileDescriptor]) {
        for file in files {
            let prefix = file.options?.swiftPrefix ?? SwiftNames.prefix(package: file.package)
            let scope = file.package.isEmpty ? "" : ".\(file.package)"
            for message in file.messages {
                add(message, file, scope, SwiftNames.type(message.name, prefix: prefix))
            }
            for enumeration in file.enums {
                add(enumeration, file, scope, SwiftNames.type(enumeration.name, prefix: prefix))
            }
        }
    }

    private mutating func add(
        _ message: MessageDescriptor, _ file: FileDescriptor, _ scope: String, _ path: String
    ) {
        let name = "\(scope).\(message.name)"
        messages[name] = Message(descriptor: message, file: file, path: path)
        for nested in message.messages {
            add(nested, file, name, "\(path).\(SwiftNames.type(nested.name))")
        }
        for nested in message.enums { add(nested, file, name, "\(path).\(SwiftNames.type(nested.name))") }
    }

    private mutating func add(
        _ enumeration: EnumDescriptor, _ file: FileDescriptor, _ scope: String, _ path: String
    ) {
        enumerations["\(scope).\(enumeration.name)"] = Enumeration(
            descriptor: enumeration, file: file, path: path, caseNames: EnumSource.caseNames(enumeration))
    }
}
