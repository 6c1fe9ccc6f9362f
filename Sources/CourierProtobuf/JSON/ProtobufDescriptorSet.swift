import CourierCore
public import Foundation

/// The message types of some `.proto` files, with which any of their messages can be shown and written as JSON.
///
/// ```swift
/// // protoc --include_imports --descriptor_set_out=chat.set chat.proto
/// let types = try ProtobufDescriptorSet(Data(contentsOf: URL(filePath: "chat.set")))
/// print(try types.json(from: payload, type: "courier.chat.Note"))
/// ```
///
/// The JSON is protobuf's own: names in lower camel case, 64-bit numbers as texts, bytes as Base64, Google's own types
/// in their short forms. A field that the types do not have is left out. Payloads, JSON and the set itself may be
/// hostile; the limits hold for all three.
public final class ProtobufDescriptorSet: Sendable {
    private let types: DynamicTypes
    private let limits: ProtobufLimits

    /// Reads the types.
    ///
    /// - Parameters:
    ///   - data: What `protoc --include_imports --descriptor_set_out` wrote.
    ///   - limits: What reading the set, a payload or a JSON text may cost, ``ProtobufLimits/default`` unless given.
    /// - Throws: ``CourierCore/CourierError`` with the code `decodingFailed` when the bytes are no such set, or its
    ///   types refer to types that are not in it.
    public init(_ data: Data, limits: ProtobufLimits = .default) throws {
        types = try DynamicTypes(FileDescriptorSet(protobufData: data, limits: limits))
        self.limits = limits
    }

    /// The full names of all message types, in order.
    public var messageNames: [String] { types.messages.keys.sorted() }

    /// Shows a message.
    ///
    /// - Parameters:
    ///   - payload: The message.
    ///   - type: The full name of its type.
    /// - Returns: The message as JSON on one line.
    /// - Throws: ``CourierCore/CourierError`` with the code `decodingFailed` when there is no such type, the payload is
    ///   not such a message, or its JSON would be too long.
    public func json(from payload: Data, type: String) throws -> String {
        let type = try types.message(type)
        return try payload.withUnsafeBytes { bytes in
            try MessageUnpacking.with(
                bytes, schema: type.schema, limits: limits, memory: .init(budget: limits.workingMemory)
            ) { fields, memoryLeft in
                var printer = JSONPrinter(types: types, limits: limits, memoryLeft: memoryLeft)
                try printer.write([fields], as: type)
                return printer.text
            }
        }
    }

    /// Makes a message.
    ///
    /// - Parameters:
    ///   - json: The message as JSON; fields may have their names of the `.proto` file too.
    ///   - type: The full name of its type.
    /// - Returns: The payload.
    /// - Throws: ``CourierCore/CourierError`` with the code `encodingFailed` when there is no such type, the text is no
    ///   JSON, it does not fit the type, or it exceeds a limit.
    public func payload(fromJSON json: String, type: String) throws -> Data {
        let type = try types.message(type)
        var parser = try JSONParser(json, limits: limits)
        let node = try parser.document()
        return try MessagePacking.data(type.schema, limits: limits, budget: limits.workingMemory) { fields in
            try JSONFiller(types: types, limits: limits).fill(fields, as: type, from: node)
        }
    }
}
