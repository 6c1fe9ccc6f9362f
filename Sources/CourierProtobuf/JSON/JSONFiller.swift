import CourierCore
import Foundation

/// Writes a parsed JSON value as a protobuf message.
struct JSONFiller {
    let types: DynamicTypes
    let limits: ProtobufLimits

    func fill(_ fields: ProtobufWriter, as type: DynamicTypes.Message, from node: JSONNode) throws {
        if try fillWellKnown(fields, as: type, from: node) { return }
        guard case .object(let members) = node else { throw mismatch(type.name, "an object") }
        try fillFields(fields, of: type, from: members)
    }

    // MARK: Fields

    private func fillFields(
        _ fields: ProtobufWriter, of type: DynamicTypes.Message, from members: [(name: String, value: JSONNode)]
    ) throws {
        let places = Dictionary(
            type.fields.enumerated().flatMap { [($0.element.jsonName, $0.offset), ($0.element.name, $0.offset)] }
        ) { first, _ in first }
        var done: Set<Int> = []
        var oneofs: Set<Int> = []
        for (name, value) in members {
            guard let index = places[name] else {
                throw CourierError(.encodingFailed, "\(type.name) has no field \(name.quoted())")
            }
            let field = type.fields[index]
            guard done.insert(index).inserted else {
                throw CourierError(.encodingFailed, "\(type.name).\(name) occurs twice")
            }
            if value == .null, !takesNull(field) { continue }
            if case .member(let first) = field.shape, !oneofs.insert(first).inserted {
                throw CourierError(
                    .encodingFailed, "\(type.name).\(name) and another field of the same oneof are both set")
            }
            try fill(fields, index, field, from: value)
        }
    }

    /// True if `null` is a value of the field's type. For all other fields, `null` means that the field is missing.
    private func takesNull(_ field: DynamicTypes.Field) -> Bool {
        switch field.kind {
        case .message("google.protobuf.Value"), .enumeration("google.protobuf.NullValue"):
            if case .repeated = field.shape { false } else { true }
        default: false
        }
    }

    private func fill(_ fields: ProtobufWriter, _ index: Int, _ field: DynamicTypes.Field, from node: JSONNode) throws {
        switch field.shape {
        case .single(let isOptional):
            if !isOptional, try isZero(node, field) { return }
            fields.setQuantifier(index, 1)
            try store(node, field.kind, at: fields.place(index), fields, index)
        case .member(let first):
            fields.setQuantifier(first, Int(field.number))
            try store(node, field.kind, at: fields.place(first), fields, index)
        case .message:
            try store(node, field.kind, at: fields.list(index, count: 1, stride: 8), fields, index)
        case .repeated:
            guard case .array(let elements) = node else { throw mismatch(field.name, "an array") }
            if elements.isEmpty { return }
            try check(count: elements.count, of: field.name)
            let stride = field.kind.stride
            let list = try fields.list(index, count: elements.count, stride: stride)
            for (position, element) in elements.enumerated() {
                try store(element, field.kind, at: list + position * stride, fields, index)
            }
        case .map(let key, let value):
            guard case .object(let members) = node else { throw mismatch(field.name, "an object") }
            try check(count: members.count, of: field.name)
            try fillMap(fields, index, key, value, from: members)
        }
    }

    private func check(count: Int, of field: String) throws {
        guard count <= limits.maximumCount else {
            throw CourierError(
                .encodingFailed, "\(field) has \(count) elements, more than the limit of \(limits.maximumCount)")
        }
    }

    private func fillMap(
        _ fields: ProtobufWriter, _ index: Int, _ key: DynamicTypes.Kind, _ value: DynamicTypes.Kind,
        from members: [(name: String, value: JSONNode)]
    ) throws {
        if members.isEmpty { return }
        let list = try fields.list(index, count: members.count, stride: 8)
        for (position, member) in try sorted(members, by: key).enumerated() {
            let entry = try fields.enter(index)
            (list + position * 8).storeBytes(of: entry.record, as: UnsafeMutableRawPointer.self)
            entry.setQuantifier(0, 1)
            let name: JSONNode = if case .bool = key { try flag(member.name) } else { .string(member.name) }
            try store(name, key, at: entry.place(0), entry, 0)
            if case .message = value {
                try store(member.value, value, at: entry.list(1, count: 1, stride: 8), entry, 1)
            } else {
                entry.setQuantifier(1, 1)
                try store(member.value, value, at: entry.place(1), entry, 1)
            }
            entry.leave()
        }
    }

    private func flag(_ text: String) throws -> JSONNode {
        guard let flag = Bool(text) else { throw mismatch("a key", "\"true\" or \"false\"") }
        return .bool(flag)
    }

    /// Returns the map entries in ascending order of their keys, so that equal maps give equal bytes. Throws if a key
    /// occurs twice. Text keys are the same only if their bytes are equal. Number keys are the same if their values are
    /// equal, even if they are written differently.
    private func sorted(
        _ members: [(name: String, value: JSONNode)], by key: DynamicTypes.Kind
    ) throws -> [(name: String, value: JSONNode)] {
        switch key {
        case .string, .bool:
            let sorted = members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            try checkKeys(sorted.map { Array($0.name.utf8) })
            return sorted
        default:
            let sorted = try members.map { (try integer(.string($0.name), "a key") as Int128, $0) }
                .sorted { $0.0 < $1.0 }
            try checkKeys(sorted.map(\.0))
            return sorted.map(\.1)
        }
    }

    private func checkKeys(_ sorted: [some Equatable]) throws {
        guard zip(sorted, sorted.dropFirst()).allSatisfy({ $0 != $1 }) else {
            throw CourierError(.encodingFailed, "a map has the same key twice")
        }
    }

    // MARK: Values

    private func store(
        _ node: JSONNode, _ kind: DynamicTypes.Kind, at place: UnsafeMutableRawPointer, _ fields: ProtobufWriter,
        _ index: Int
    ) throws {
        switch kind {
        case .int32: place.storeBytes(of: try integer(node, "an int32"), as: Int32.self)
        case .uint32: place.storeBytes(of: try integer(node, "a uint32"), as: UInt32.self)
        case .int64: place.storeBytes(of: try integer(node, "an int64"), as: Int64.self)
        case .uint64: place.storeBytes(of: try integer(node, "a uint64"), as: UInt64.self)
        case .float:
            let value = try double(node)
            guard !value.isFinite || Float(value).isFinite else { throw mismatch("a float", "in range") }
            place.storeBytes(of: Float(value), as: Float.self)
        case .double: place.storeBytes(of: try double(node), as: Double.self)
        case .bool:
            guard case .bool(let value) = node else { throw mismatch("a bool", "true or false") }
            ProtobufCodec.Flag.store(value, at: place, fields, index)
        case .string:
            guard case .string(let value) = node else { throw mismatch("a string", "a text") }
            try ProtobufCodec.Text.store(value, at: place, fields, index)
        case .bytes: try ProtobufCodec.Bytes.store(bytes(node), at: place, fields, index)
        case .enumeration(let name): place.storeBytes(of: try number(node, of: name), as: Int32.self)
        case .message(let name):
            let message = try fields.enter(index)
            place.storeBytes(of: message.record, as: UnsafeMutableRawPointer.self)
            try fill(message, as: types.message(name), from: node)
            message.leave()
        }
    }

    /// True if the value of the field is zero or empty. Such a field is left out, unless it distinguishes "missing"
    /// from "zero".
    private func isZero(_ node: JSONNode, _ field: DynamicTypes.Field) throws -> Bool {
        switch field.kind {
        case .int32, .uint32, .int64, .uint64: try integer(node, field.name) as Int128 == 0
        case .float: Float(try double(node)).bitPattern == 0
        case .double: try double(node).bitPattern == 0
        case .bool: node == .bool(false)
        case .string: node == .string("")
        case .bytes: try bytes(node).isEmpty
        case .enumeration(let name): try number(node, of: name) == 0
        case .message: false
        }
    }

    private func integer<Value: FixedWidthInteger>(_ node: JSONNode, _ what: String) throws -> Value {
        let text = try number(node, what)
        // Also accept integers that are written as 1e3 or 1.0.
        guard let value = Value(text) ?? Double(text).flatMap({ Value(exactly: $0) }) else {
            throw mismatch(what, "a whole number in the range of its type")
        }
        return value
    }

    private func double(_ node: JSONNode) throws -> Double {
        switch node {
        case .string("NaN"): return .nan
        case .string("Infinity"): return .infinity
        case .string("-Infinity"): return -.infinity
        default:
            guard let value = Double(try number(node, "a value")), value.isFinite else {
                throw mismatch("a number", "in range")
            }
            return value
        }
    }

    /// Returns the text of a number exactly as written. The number may be in quotes.
    private func number(_ node: JSONNode, _ what: String) throws -> String {
        switch node {
        case .number(let text): return text
        case .string(let text) where JSONParser.isNumber(text): return text
        default: throw mismatch(what, "a number")
        }
    }

    private func bytes(_ node: JSONNode) throws -> [UInt8] {
        guard case .string(let text) = node else { throw mismatch("bytes", "a text") }
        var standard = text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
        while standard.count % 4 != 0 { standard.append("=") }
        guard let data = Data(base64Encoded: String(standard)) else { throw mismatch("bytes", "Base64") }
        return Array(data)
    }

    private func number(_ node: JSONNode, of enumeration: String) throws -> Int32 {
        if enumeration == "google.protobuf.NullValue", node == .null { return 0 }
        if case .string(let name) = node, let number = types.enumerations[enumeration]?.numbers[name] { return number }
        guard case .number = node else { throw mismatch(enumeration, "the name of an enumeration value, or a number") }
        return try integer(node, enumeration)
    }

    private func mismatch(_ what: String, _ wanted: String) -> CourierError {
        CourierError(.encodingFailed, "the JSON does not match the message type: \(what) must be \(wanted)")
    }

    // MARK: Well-known types

    private func fillWellKnown(
        _ fields: ProtobufWriter, as type: DynamicTypes.Message, from node: JSONNode
    ) throws -> Bool {
        guard type.name.hasPrefix("google.protobuf."), let form = WellKnownForm(type) else { return false }
        switch form {
        case .timestamp, .duration:
            // If the value is out of range, the JSON contains an object with `seconds` and `nanos` instead of a text.
            // The caller then reads this object like any other message.
            guard case .string(let text) = node else { return false }
            let parsed = form == .timestamp ? TimeText.parsedTimestamp(text) : TimeText.parsedDuration(text)
            guard let (seconds, nanos) = parsed else {
                throw mismatch(
                    type.name, form == .timestamp ? "a time in the format of RFC 3339" : "seconds such as \"1.5s\"")
            }
            try fields.write(0, ProtobufCodec.Number<Int64>.self, seconds)
            try fields.write(1, ProtobufCodec.Number<Int32>.self, nanos)
        case .wrapper: try fill(fields, 0, type.fields[0], from: node)
        case .fieldMask:
            // If the paths have no text form, the JSON contains an object with `paths` instead of a text. The caller
            // then reads this object like any other message.
            if case .object = node { return false }
            guard case .string(let text) = node, !text.utf8.contains(UInt8(ascii: "_")) else {
                throw mismatch(type.name, "a string of field paths in lower camel case, separated by commas")
            }
            let paths = TimeText.paths(text)
            try check(count: paths.count, of: type.name)
            try fields.writeRepeated(0, ProtobufCodec.Text.self, paths)
        case .structure, .list: try fill(fields, 0, type.fields[0], from: node)
        case .value:
            let index =
                switch node {
                case .null: 0
                case .number: 1
                case .string: 2
                case .bool: 3
                case .object: 4
                case .array: 5
                }
            try fill(fields, index, type.fields[index], from: node)
        case .any: try fillAny(fields, from: node)
        }
        return true
    }

    private func fillAny(_ fields: ProtobufWriter, from node: JSONNode) throws {
        guard case .object(var members) = node else { throw mismatch("google.protobuf.Any", "an object") }
        let place = members.firstIndex { $0.name == "@type" }
        guard let place, case .string(let url) = members[place].value else {
            if members.isEmpty { return }
            throw mismatch("google.protobuf.Any", "an object with @type")
        }
        members.remove(at: place)
        var any = ProtobufAny(typeURL: url)
        if let type = types.messages[any.typeName] {
            let isShort = WellKnownForm(type) != nil
            let inner: JSONNode = try isShort ? onlyValue(members, of: url) ?? .null : .object(members)
            // The outer message has already used a part of the working memory. The message inside the `Any` may use the
            // rest.
            let budget = fields.arena.pointee.rest.budget
            let data = try MessagePacking.data(type.schema, limits: limits, budget: budget) {
                try fill($0, as: type, from: inner)
            }
            any.value = Array(data)
        } else if let value = try onlyValue(members, of: url) {
            any.value = try bytes(value)
        }
        try any.writeProtobuf(fields)
    }

    /// Returns the member `value`, or `nil` if there is none. Throws if there are members besides `value` (`@type` is
    /// already removed).
    private func onlyValue(_ members: [(name: String, value: JSONNode)], of url: String) throws -> JSONNode? {
        guard members.count <= 1, members.allSatisfy({ $0.name == "value" }) else {
            throw mismatch(url.quoted(), "an object with @type and value only")
        }
        return members.first?.value
    }
}
