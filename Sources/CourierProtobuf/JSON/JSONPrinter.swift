import CourierCore
import Foundation

/// Writes a message as JSON, directly from the C structs that libprotobuf-c filled.
///
/// A message may have arrived in several parts. Each function receives all parts, and uses the last part that has a
/// value.
struct JSONPrinter {
    private let types: DynamicTypes
    private let limits: ProtobufLimits
    private(set) var text = ""
    /// The number of message levels that may still be entered. The message in an `Any` is read separately, so the
    /// nesting limit of that read does not include the outer messages.
    private var depthLeft: Int
    /// The working memory that remains for the messages in `Any` fields. Such a message is read while the outer message
    /// is still in memory, so both share one limit.
    private var memoryLeft: MessageArena.Rest

    init(types: DynamicTypes, limits: ProtobufLimits, memoryLeft: MessageArena.Rest) {
        self.types = types
        self.limits = limits
        depthLeft = limits.depth
        self.memoryLeft = memoryLeft
    }

    mutating func write(_ parts: [ProtobufReader], as type: DynamicTypes.Message) throws {
        try enter(type)
        defer { depthLeft += 1 }
        if try !writeWellKnown(parts, as: type) {
            try put("{")
            var isFirst = true
            try writeFields(parts, of: type, &isFirst)
            try put("}")
        }
    }

    private mutating func enter(_ type: DynamicTypes.Message) throws {
        guard depthLeft > 0 else {
            throw CourierError(.decodingFailed, "\(type.name) is nested too deeply in other messages")
        }
        depthLeft -= 1
    }

    // MARK: Fields

    private mutating func writeFields(
        _ parts: [ProtobufReader], of type: DynamicTypes.Message, _ isFirst: inout Bool
    ) throws {
        for (index, field) in type.fields.enumerated() {
            switch field.shape {
            case .single(let isOptional):
                guard let part = parts.last(where: { $0.isPresent(index) }) else { continue }
                if !isOptional, try isZero(part, index, field.kind) { continue }
                try name(field.jsonName, &isFirst)
                try write(part.place(index), field.kind, part, index)
            case .member(let first):
                let last = parts.last { $0.member(of: first) != 0 }
                guard let part = last, part.member(of: first) == field.number else { continue }
                try name(field.jsonName, &isFirst)
                try write(part.place(first), field.kind, part, index)
            case .message:
                let children = try messages(parts, index)
                guard !children.isEmpty, case .message(let child) = field.kind else { continue }
                try name(field.jsonName, &isFirst)
                try write(children, as: types.message(child))
            case .repeated:
                guard try parts.contains(where: { try $0.elementCount(index) > 0 }) else { continue }
                try name(field.jsonName, &isFirst)
                try writeList(parts, index, field.kind)
            case .map(let key, let value):
                let entries = try messages(parts, index)
                guard !entries.isEmpty else { continue }
                try name(field.jsonName, &isFirst)
                try writeMap(entries, key, value)
            }
        }
    }

    private func messages(_ parts: [ProtobufReader], _ index: Int) throws -> [ProtobufReader] {
        var messages: [ProtobufReader] = []
        for part in parts {
            for element in 0..<(try part.elementCount(index)) {
                messages.append(part.message(at: part.elements(index) + element * 8))
            }
        }
        return messages
    }

    private mutating func writeList(_ parts: [ProtobufReader], _ index: Int, _ kind: DynamicTypes.Kind) throws {
        try put("[")
        var isFirst = true
        for part in parts {
            for element in 0..<(try part.elementCount(index)) {
                try separate(&isFirst)
                try write(part.elements(index) + element * kind.stride, kind, part, index)
            }
        }
        try put("]")
    }

    private mutating func writeMap(
        _ entries: [ProtobufReader], _ key: DynamicTypes.Kind, _ value: DynamicTypes.Kind
    ) throws {
        // If a key occurs twice, only its last entry is printed, at the position of the first entry. Text keys are the
        // same only if their bytes are equal.
        var places: [[UInt8]: Int] = [:]
        var last: [(key: String, entry: ProtobufReader)] = []
        for entry in entries {
            let key = try keyText(entry, key)
            let bytes = Array(key.utf8)
            if let place = places[bytes] {
                last[place].entry = entry
            } else {
                places[bytes] = last.count
                last.append((key, entry))
            }
        }
        try put("{")
        var isFirst = true
        for (key, entry) in last {
            try name(key, &isFirst)
            if case .message(let child) = value {
                let parts = try messages([entry], 1)
                let type = try types.message(child)
                if parts.isEmpty { try writeEmpty(type) } else { try write(parts, as: type) }
            } else if case .enumeration(let name) = value, !entry.isPresent(1) {
                try write(number: types.enumerations[name]?.first ?? 0, of: name)
            } else {
                try write(entry.place(1), value, entry, 1)  // If the entry has no value, its slot is zero or empty.
            }
        }
        try put("}")
    }

    private mutating func writeEmpty(_ type: DynamicTypes.Message) throws {
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        let before = memoryLeft
        try MessageUnpacking.with(nothing, schema: type.schema, limits: limits, memory: before) { fields, left in
            memoryLeft = left
            try write([fields], as: type)
        }
        memoryLeft = before
    }

    private func keyText(_ entry: ProtobufReader, _ kind: DynamicTypes.Kind) throws -> String {
        let place = entry.place(0)
        return switch kind {
        case .string: try ProtobufCodec.Text.load(place, entry, 0)
        case .bool: ProtobufCodec.Flag.load(place, entry, 0).description
        case .int32: place.load(as: Int32.self).description
        case .uint32: place.load(as: UInt32.self).description
        case .int64: place.load(as: Int64.self).description
        default: place.load(as: UInt64.self).description
        }
    }

    private func isZero(_ part: ProtobufReader, _ index: Int, _ kind: DynamicTypes.Kind) throws -> Bool {
        let place = part.place(index)
        return switch kind {
        case .int32, .uint32, .float, .bool, .enumeration: place.load(as: UInt32.self) == 0
        // The first eight bytes of the slot hold the number, or the length of the string or bytes. If these eight bytes
        // are 0, the value is zero or empty.
        case .int64, .uint64, .double, .string, .bytes: place.load(as: UInt64.self) == 0
        case .message: false
        }
    }

    // MARK: Values

    private mutating func write(
        _ place: UnsafeRawPointer, _ kind: DynamicTypes.Kind, _ part: ProtobufReader, _ index: Int
    ) throws {
        switch kind {
        case .int32: try put(place.load(as: Int32.self).description)
        case .uint32: try put(place.load(as: UInt32.self).description)
        case .int64: try put("\"\(place.load(as: Int64.self))\"")
        case .uint64: try put("\"\(place.load(as: UInt64.self))\"")
        case .float: try write(floating: place.load(as: Float.self))
        case .double: try write(floating: place.load(as: Double.self))
        case .bool: try put(ProtobufCodec.Flag.load(place, part, index).description)
        case .string: try string(ProtobufCodec.Text.load(place, part, index))
        case .bytes: try put("\"\(Data(ProtobufCodec.Bytes.load(place, part, index)).base64EncodedString())\"")
        case .enumeration(let name): try write(number: place.load(as: Int32.self), of: name)
        case .message(let name): try write([part.message(at: place)], as: types.message(name))
        }
    }

    private mutating func write(floating value: some BinaryFloatingPoint & CustomStringConvertible) throws {
        if value.isFinite { return try put(value.description) }
        try put(value.isNaN ? "\"NaN\"" : value < 0 ? "\"-Infinity\"" : "\"Infinity\"")
    }

    private mutating func write(number: Int32, of enumeration: String) throws {
        if enumeration == "google.protobuf.NullValue" { return try put("null") }
        if let name = types.enumerations[enumeration]?.names[number] { try string(name) } else { try put("\(number)") }
    }

    // MARK: Well-known types

    private mutating func writeWellKnown(_ parts: [ProtobufReader], as type: DynamicTypes.Message) throws -> Bool {
        guard type.name.hasPrefix("google.protobuf."), let form = WellKnownForm(type) else { return false }
        switch form {
        case .timestamp, .duration:
            let seconds = parts.last { $0.isPresent(0) }?.place(0).load(as: Int64.self) ?? 0
            let nanos = parts.last { $0.isPresent(1) }?.place(1).load(as: Int32.self) ?? 0
            let short = form == .timestamp ? TimeText.timestamp(seconds, nanos) : TimeText.duration(seconds, nanos)
            // If the value is out of range, it is printed as an object with `seconds` and `nanos`.
            guard let short else { return false }
            try put("\"\(short)\"")
        case .wrapper:
            if let part = parts.last(where: { $0.isPresent(0) }) {
                try write(part.place(0), type.fields[0].kind, part, 0)
            } else if let part = parts.last {
                try write(part.place(0), type.fields[0].kind, part, 0)
            }
        case .fieldMask:
            var paths: [String] = []
            for part in parts { try part.readRepeated(0, ProtobufCodec.Text.self, into: &paths) }
            // If the text form cannot be converted back to the same paths, the mask is printed as an object with
            // `paths`.
            guard let short = TimeText.mask(paths) else { return false }
            try string(short)
        case .structure:
            let entries = try messages(parts, 0)
            if case .map(let key, let value) = type.fields[0].shape { try writeMap(entries, key, value) }
        case .list: try writeList(parts, 0, type.fields[0].kind)
        case .value:
            guard let part = parts.last(where: { $0.member(of: 0) != 0 }),
                let index = type.fields.firstIndex(where: { $0.number == part.member(of: 0) })
            else {
                try put("null")
                return true
            }
            try write(part.place(0), type.fields[index].kind, part, index)
        case .any: try writeAny(parts)
        }
        return true
    }

    private mutating func writeAny(_ parts: [ProtobufReader]) throws {
        var any = ProtobufAny()
        // The bytes are not copied, because they may be the largest part of the message.
        var value = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
        for part in parts {
            try part.read(0, ProtobufCodec.Text.self, into: &any.typeURL)
            if part.isPresent(1) { value = ProtobufCodec.Bytes.buffer(part.place(1)) }
        }
        try put("{")
        var isFirst = true
        if !any.typeURL.isEmpty {
            try name("@type", &isFirst)
            try string(any.typeURL)
        }
        if let type = types.messages[any.typeName] {
            let before = memoryLeft
            let bytes = UnsafeRawBufferPointer(value)
            try MessageUnpacking.with(bytes, schema: type.schema, limits: limits, memory: before) { fields, left in
                memoryLeft = left
                if WellKnownForm(type) == nil {
                    try enter(type)
                    try writeFields([fields], of: type, &isFirst)
                    depthLeft += 1
                } else {
                    try name("value", &isFirst)
                    try write([fields], as: type)
                }
            }
            memoryLeft = before
        } else if !value.isEmpty {
            try name("value", &isFirst)
            try put("\"\(Data(value).base64EncodedString())\"")
        }
        try put("}")
    }

    // MARK: Text

    private mutating func put(_ piece: String) throws {
        guard text.utf8.count + piece.utf8.count <= limits.maximumJSONSize else {
            throw CourierError(.decodingFailed, "the JSON is longer than the limit of \(limits.maximumJSONSize) bytes")
        }
        text += piece
    }

    private mutating func separate(_ isFirst: inout Bool) throws {
        if !isFirst { try put(",") }
        isFirst = false
    }

    private mutating func name(_ name: String, _ isFirst: inout Bool) throws {
        try separate(&isFirst)
        try string(name)
        try put(":")
    }

    private mutating func string(_ string: String) throws {
        var escaped = "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": escaped += "\\\""
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\r": escaped += "\\r"
            case "\t": escaped += "\\t"
            case "\u{0}"..."\u{1F}", "\u{7F}", "\u{2028}", "\u{2029}":
                let digits = String(scalar.value, radix: 16)
                escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        try put(escaped + "\"")
    }
}

extension DynamicTypes.Kind {
    /// The number of bytes that one element occupies in a list.
    var stride: Int {
        switch self {
        case .int32, .uint32, .float, .bool, .enumeration: 4
        case .int64, .uint64, .double, .message: 8
        case .string, .bytes: 16
        }
    }
}
