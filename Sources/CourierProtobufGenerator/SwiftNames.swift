/// Converts names of the protobuf language to Swift names.
enum SwiftNames {
    /// Returns the property name for a field name: `user_id` becomes `userID`.
    static func property(_ name: String) -> String { escaped(lowerCamel(name), reserved: reservedMembers) }

    /// Returns the name of the additional property that returns the declared default of a field.
    static func orDefault(_ property: String) -> String { property.withoutBackticks + "OrDefault" }

    /// Returns the case names for all values of an enumeration: `COLOR_DARK_RED` of `Color` becomes `darkRed`.
    static func cases(_ names: [String], of type: String) -> [String] {
        let prefix = snake(type).uppercased() + "_"
        let rests = names.map { $0.uppercased().hasPrefix(prefix) ? String($0.dropFirst(prefix.count)) : nil }
        let isStripped = rests.allSatisfy { $0?.first?.isLetter == true }
        return zip(names, rests).map { name, rest in
            let words = isStripped ? rest ?? name : name
            let isShouting = !words.contains(where: \.isLowercase)
            return escaped(lowerCamel(isShouting ? words.lowercased() : words), reserved: reservedCases)
        }
    }

    /// Returns the case name for a member of a oneof.
    static func member(_ name: String) -> String { escaped(lowerCamel(name), reserved: reservedCases) }

    /// Returns the type name for a message name: `my_message` becomes `MyMessage`. If a name equals a Swift type that
    /// generated code uses, it gets the suffix `_`.
    static func type(_ name: String, prefix: String = "") -> String {
        let name = prefix + upperCamel(name)
        return reservedTypes.contains(name) ? name + "_" : name
    }

    /// Returns the type name prefix for a package: `courier.chat_room` becomes `Courier_ChatRoom_`.
    static func prefix(package: String) -> String {
        package.split(separator: ".").map { upperCamel(String($0)) + "_" }.joined()
    }

    private static let acronyms: Set = [
        "http", "https", "id", "ip", "json", "mqtt", "tls", "uri", "url", "utc", "uuid",
    ]

    private static func lowerCamel(_ name: String) -> String {
        let words = words(name)
        guard let first = words.first else { return "_" }
        let head = first.contains(where: \.isLowercase) ? lowerFirst(first) : first.lowercased()
        let camel = head + words.dropFirst().map { acronyms.contains($0) ? $0.uppercased() : upperFirst($0) }.joined()
        return camel.first?.isNumber == true ? "_" + camel : camel
    }

    private static func upperCamel(_ name: String) -> String {
        let camel = words(name).map(upperFirst).joined()
        return camel.first?.isNumber == true || camel.isEmpty ? "_" + camel : camel
    }

    private static func words(_ name: String) -> [String] { name.split(separator: "_").map(String.init) }
    private static func upperFirst(_ word: String) -> String { word.prefix(1).uppercased() + word.dropFirst() }

    /// Converts the start of a name to lower case: `HTTPStatus` becomes `httpStatus`.
    private static func lowerFirst(_ word: String) -> String {
        let capitals = word.prefix(while: \.isUppercase).count
        let head = capitals > 1 && capitals < word.count ? capitals - 1 : capitals
        return word.prefix(head).lowercased() + word.dropFirst(head)
    }

    /// Converts a name to snake case: `HTTPStatus` and `HttpStatus` become `http_status`.
    private static func snake(_ name: String) -> String {
        let letters = Array(name)
        var result = ""
        for (index, letter) in letters.enumerated() {
            let startsWord =
                index > 0 && letter.isUppercase && letters[index - 1] != "_"
                && (!letters[index - 1].isUppercase
                    || (index + 1 < letters.count && letters[index + 1].isLowercase))
            if startsWord { result += "_" }
            result += letter.lowercased()
        }
        return result
    }

    private static func escaped(_ name: String, reserved: Set<String>) -> String {
        if reserved.contains(name) { return name + "_" }
        return keywords.contains(name) ? "`\(name)`" : name
    }

    /// Member names that Swift does not allow even in backticks, or that every generated message already has. A field
    /// with such a name gets the suffix `_`.
    private static let reservedMembers: Set = [
        "self", "Self", "Type", "Protocol", "init", "hashValue", "hash", "unknownFields", "protobufSchema",
        "protobufData", "readProtobuf", "writeProtobuf",
    ]
    private static let reservedCases: Set = [
        "self", "Self", "Type", "Protocol", "init", "hashValue", "hash", "rawValue", "allCases", "unrecognized", "none",
        "some",
    ]
    private static let reservedTypes: Set = [
        "Any", "Array", "Bool", "CaseIterable", "Dictionary", "Double", "Duration", "Float", "Hashable", "Int32",
        "Int64", "Never", "Optional", "Protocol", "Result", "Self", "Sendable", "String", "Swift", "Type", "UInt32",
        "UInt64", "UInt8", "Void", "GeneratedProtobufMessage", "ProtobufAny", "ProtobufCodec", "ProtobufEmpty",
        "ProtobufEnum", "ProtobufFieldMask", "ProtobufIndirect", "ProtobufReader", "ProtobufSchema",
        "ProtobufTimestamp", "ProtobufUnknownFields", "ProtobufValue", "ProtobufWriter",
    ]
    private static let keywords: Set = [
        "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do",
        "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import",
        "in", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public",
        "repeat", "rethrows", "return", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true",
        "try", "typealias", "var", "where", "while", "Any",
    ]
}

extension String {
    /// The name without backticks, to be used as the beginning of a longer name.
    var withoutBackticks: String { filter { $0 != "`" } }
}
