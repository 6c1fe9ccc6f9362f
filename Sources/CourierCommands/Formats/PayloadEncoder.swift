import CommandArguments
import CourierCore
import Foundation

/// Converts typed text into the payload: unchanged, checked as JSON, or converted from JSON to protobuf.
package enum PayloadEncoder: Sendable {
    case asTyped
    case json
    case protobuf(ProtobufSchema)

    /// Chooses the encoder from the command-line options, and reads the `.proto` file if one is given.
    init(_ arguments: PayloadArguments) throws {
        if let schema = try ProtobufSchema(file: arguments.protoFile, type: arguments.protoType) {
            self = .protobuf(schema)
        } else {
            self = arguments.isJSON ? .json : .asTyped
        }
    }

    /// The content type of the payload, or `nil` if it is not known.
    var contentType: String? {
        switch self {
        case .asTyped: nil
        case .json: "application/json"
        case .protobuf: "application/x-protobuf"
        }
    }

    /// Returns the payload for the typed text.
    ///
    /// - Throws: An error whose message says why the text cannot be encoded.
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
