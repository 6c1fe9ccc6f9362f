// Made by protoc-gen-courier from reading.proto. Changes would be lost.
// swift-format-ignore-file

import CourierProtobuf

/// A small message of six fields.
struct Reading: GeneratedProtobufMessage {
    /// `id`.
    var id: Int64 = 0
    /// `sensor`.
    var sensor: String = ""
    /// `value`.
    var value: Double = 0
    /// `quality`.
    var quality: Int32 = 0
    /// `is_valid`.
    var isValid: Bool = false
    /// `unit`.
    var unit: String = ""
    /// Fields that this version of the `.proto` file does not have.
    var unknownFields = ProtobufUnknownFields()

    /// Makes a message whose fields all have their defaults.
    init() {}

    /// Makes a message.
    init(
        id: Int64 = 0,
        sensor: String = "",
        value: Double = 0,
        quality: Int32 = 0,
        isValid: Bool = false,
        unit: String = ""
    ) {
        self.id = id
        self.sensor = sensor
        self.value = value
        self.quality = quality
        self.isValid = isValid
        self.unit = unit
    }

    /// The schema of the fields, for libprotobuf-c.
    static let protobufSchema: ProtobufSchema = .init(
        "Reading",
        [
            .init(1, "id", .int64),
            .init(2, "sensor", .string),
            .init(3, "value", .double),
            .init(4, "quality", .int32),
            .init(5, "is_valid", .bool),
            .init(6, "unit", .string),
        ]
    )

    /// Reads the fields that are present.
    mutating func readProtobuf(_ fields: ProtobufReader) throws {
        try fields.read(0, ProtobufCodec.Number<Int64>.self, into: &id)
        try fields.read(1, ProtobufCodec.Text.self, into: &sensor)
        try fields.read(2, ProtobufCodec.Number<Double>.self, into: &value)
        try fields.read(3, ProtobufCodec.Number<Int32>.self, into: &quality)
        try fields.read(4, ProtobufCodec.Flag.self, into: &isValid)
        try fields.read(5, ProtobufCodec.Text.self, into: &unit)
        fields.readUnknown(into: &unknownFields)
    }

    /// Writes the fields.
    func writeProtobuf(_ fields: ProtobufWriter) throws {
        try fields.write(0, ProtobufCodec.Number<Int64>.self, id)
        try fields.write(1, ProtobufCodec.Text.self, sensor)
        try fields.write(2, ProtobufCodec.Number<Double>.self, value)
        try fields.write(3, ProtobufCodec.Number<Int32>.self, quality)
        try fields.write(4, ProtobufCodec.Flag.self, isValid)
        try fields.write(5, ProtobufCodec.Text.self, unit)
        try fields.writeUnknown(unknownFields)
    }
}

/// A large message.
struct Readings: GeneratedProtobufMessage {
    /// `readings`.
    var readings: [Reading] = []
    /// Fields that this version of the `.proto` file does not have.
    var unknownFields = ProtobufUnknownFields()

    /// Makes a message whose fields all have their defaults.
    init() {}

    /// Makes a message.
    init(
        readings: [Reading] = []
    ) {
        self.readings = readings
    }

    /// The schema of the fields, for libprotobuf-c.
    static let protobufSchema: ProtobufSchema = .init(
        "Readings",
        [
            .init(1, "readings", .message { Reading.protobufSchema }, .repeated),
        ]
    )

    /// Reads the fields that are present.
    mutating func readProtobuf(_ fields: ProtobufReader) throws {
        try fields.readRepeated(0, ProtobufCodec.Message<Reading>.self, into: &readings)
        fields.readUnknown(into: &unknownFields)
    }

    /// Writes the fields.
    func writeProtobuf(_ fields: ProtobufWriter) throws {
        try fields.writeRepeated(0, ProtobufCodec.Message<Reading>.self, readings)
        try fields.writeUnknown(unknownFields)
    }
}
