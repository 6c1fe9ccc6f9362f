// Made by protoc-gen-courier from shared.proto. Changes would be lost.
// swift-format-ignore-file

import CourierProtobuf

/// `Unit` of the `.proto` file.
enum Courier_Shared_Unit: ProtobufEnum, CaseIterable {
    /// `UNIT_UNSPECIFIED`, 0.
    case unspecified
    /// `UNIT_METRE`, 1.
    case metre
    /// `UNIT_SECOND`, 2.
    case second
    /// A number that the `.proto` file does not name.
    case unrecognized(Int32)

    /// All values that the `.proto` file names.
    static let allCases: [Courier_Shared_Unit] = [.unspecified, .metre, .second]

    /// Makes `unspecified`.
    init() { self = .unspecified }

    /// Makes the value for a number.
    init(rawValue: Int32) {
        switch rawValue {
        case 0: self = .unspecified
        case 1: self = .metre
        case 2: self = .second
        default: self = .unrecognized(rawValue)
        }
    }

    /// The number on the wire.
    var rawValue: Int32 {
        switch self {
        case .unspecified: 0
        case .metre: 1
        case .second: 2
        case .unrecognized(let number): number
        }
    }
}

/// A place on a map.
struct Courier_Shared_Place: GeneratedProtobufMessage {
    /// Degrees north.
    var latitude: Double = 0
    /// Degrees east.
    var longitude: Double = 0
    /// `name`.
    var name: String?
    /// Fields that this version of the `.proto` file does not have.
    var unknownFields = ProtobufUnknownFields()

    /// Makes a message whose fields all have their defaults.
    init() {}

    /// Makes a message.
    init(
        latitude: Double = 0,
        longitude: Double = 0,
        name: String? = nil
    ) {
        self.latitude = latitude
        self.longitude = longitude
        self.name = name
    }

    /// The schema of the fields, for libprotobuf-c.
    static let protobufSchema: ProtobufSchema = .init(
        "courier.shared.Place",
        [
            .init(1, "latitude", .double),
            .init(2, "longitude", .double),
            .init(3, "name", .string),
        ]
    )

    /// Reads the fields that are present.
    mutating func readProtobuf(_ fields: ProtobufReader) throws {
        try fields.read(0, ProtobufCodec.Number<Double>.self, into: &latitude)
        try fields.read(1, ProtobufCodec.Number<Double>.self, into: &longitude)
        try fields.readOptional(2, ProtobufCodec.Text.self, into: &name)
        fields.readUnknown(into: &unknownFields)
    }

    /// Writes the fields.
    func writeProtobuf(_ fields: ProtobufWriter) throws {
        try fields.write(0, ProtobufCodec.Number<Double>.self, latitude)
        try fields.write(1, ProtobufCodec.Number<Double>.self, longitude)
        try fields.writeOptional(2, ProtobufCodec.Text.self, name)
        try fields.writeUnknown(unknownFields)
    }
}
