import CommandArguments
import CourierCore
import Foundation

/// Turns what is typed into what is sent: nothing is changed, or JSON is checked, or it becomes protobuf.
package enum PayloadEncoder: Sendable {
    case asTyped
    case json
    case protobuf(ProtobufSchema)

    /// Reads the schema, if there is one.
    init(_ arguments: PayloadArguments) throws {
        if let schema = try ProtobufSchema(file: arguments.protoFile, type: arguments.protoType) {
            self = .protobuf(schema)
        } else {
            self = arguments.isJSON ? .json : .asTyped
        }
    }

    /// The content type of what is sent, where it is known.
    var contentType: String? {
        switch self {
        case .asTyped: nil
        case .json: "application/json"
        case .protobuf: "application/x-protobuf"
        }
    }

    /// What is sent.
    ///
    /// - Throws: An error whose message says what is wrong with the text.
    func encode(_ bytes: [UInt8]) throws -> [UInt8] {
        switch self {
        case .asTyped: return bytes
        case .json:
            guard JSONValue(parsing: bytes) != nil else {
                throw CourierError(.encodingFailed, "The message is not JSON: \(Self.shown(bytes))")
            }
            return bytes
        case .protobuf(let schema): return try schema.payload(fromJSON: bytes)
        }
    }

    private static func shown(_ bytes: [UInt8]) -> String { String(decoding: bytes.prefix(80), as: UTF8.self) }
}
