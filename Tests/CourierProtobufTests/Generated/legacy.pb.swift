// Made by protoc-gen-courier from legacy.proto. Changes would be lost.
// swift-format-ignore-file

import CourierProtobuf

/// `Legacy` of the `.proto` file.
struct Courier_Legacy_Legacy: GeneratedProtobufMessage {
    /// `Color` of the `.proto` file.
    enum Color: ProtobufEnum, CaseIterable {
        /// `RED`, 1.
        case red
        /// `GREEN`, 2.
        case green
        /// `BLUE`, 3.
        case blue
        /// A number that the `.proto` file does not name.
        case unrecognized(Int32)

        /// All values that the `.proto` file names.
        static let allCases: [Color] = [.red, .green, .blue]

        /// Makes `red`.
        init() { self = .red }

        /// Makes the value for a number.
        init(rawValue: Int32) {
            switch rawValue {
            case 1: self = .red
            case 2: self = .green
            case 3: self = .blue
            default: self = .unrecognized(rawValue)
            }
        }

        /// The number on the wire.
        var rawValue: Int32 {
            switch self {
            case .red: 1
            case .green: 2
            case .blue: 3
            case .unrecognized(let number): number
            }
        }
    }

    /// `Part` of the `.proto` file.
    struct Part: GeneratedProtobufMessage {
        /// `label`.
        var label: String?
        /// Fields that this version of the `.proto` file does not have.
        var unknownFields = ProtobufUnknownFields()

        /// Makes a message whose fields all have their defaults.
        init() {}

        /// Makes a message.
        init(
            label: String? = nil
        ) {
            self.label = label
        }

        /// The schema of the fields, for libprotobuf-c.
        static let protobufSchema: ProtobufSchema = .init(
            "courier.legacy.Legacy.Part",
            [
                .init(1, "label", .string),
            ]
        )

        /// Reads the fields that are present.
        mutating func readProtobuf(_ fields: ProtobufReader) throws {
            try fields.readOptional(0, ProtobufCodec.Text.self, into: &label)
            fields.readUnknown(into: &unknownFields)
        }

        /// Writes the fields.
        func writeProtobuf(_ fields: ProtobufWriter) throws {
            try fields.writeOptional(0, ProtobufCodec.Text.self, label)
            try fields.writeUnknown(unknownFields)
        }
    }

    /// `id`.
    var id: Int32 = 0
    /// `name`.
    var name: String = "nobody"
    /// `part`.
    var part: Courier_Legacy_Legacy.Part = Courier_Legacy_Legacy.Part()
    /// `count`.
    var count: Int32?
    /// ``count``, or the default that the `.proto` file declares.
    var countOrDefault: Int32 { count ?? -42 }
    /// `greeting`.
    var greeting: String?
    /// ``greeting``, or the default that the `.proto` file declares.
    var greetingOrDefault: String { greeting ?? "h\"i\n\\ é" }
    /// `blob`.
    var blob: [UInt8]?
    /// ``blob``, or the default that the `.proto` file declares.
    var blobOrDefault: [UInt8] { blob ?? [1, 255, 97, 34, 92] }
    /// `color`.
    var color: Courier_Legacy_Legacy.Color?
    /// ``color``, or the default that the `.proto` file declares.
    var colorOrDefault: Courier_Legacy_Legacy.Color { color ?? Courier_Legacy_Legacy.Color.blue }
    /// `ratio`.
    var ratio: Double?
    /// ``ratio``, or the default that the `.proto` file declares.
    var ratioOrDefault: Double { ratio ?? 15000000000 }
    /// `limit`.
    var limit: Float?
    /// ``limit``, or the default that the `.proto` file declares.
    var limitOrDefault: Float { limit ?? -.infinity }
    /// `is_on`.
    var isOn: Bool?
    /// ``isOn``, or the default that the `.proto` file declares.
    var isOnOrDefault: Bool { isOn ?? true }
    /// `big`.
    var big: UInt64?
    /// ``big``, or the default that the `.proto` file declares.
    var bigOrDefault: UInt64 { big ?? 18446744073709551615 }
    /// `loose`.
    var loose: [Int32] = []
    /// `tight`.
    var tight: [Int32] = []
    /// `colors`.
    var colors: [Courier_Legacy_Legacy.Color] = []
    /// `other`.
    var other: Courier_Legacy_Legacy.Part?
    /// `not_a_number`.
    var notANumber: Double?
    /// ``notANumber``, or the default that the `.proto` file declares.
    var notANumberOrDefault: Double { notANumber ?? .nan }
    /// Fields that this version of the `.proto` file does not have.
    var unknownFields = ProtobufUnknownFields()

    /// Makes a message whose fields all have their defaults.
    init() {}

    /// Makes a message.
    init(
        id: Int32 = 0,
        name: String = "nobody",
        part: Courier_Legacy_Legacy.Part = Courier_Legacy_Legacy.Part(),
        count: Int32? = nil,
        greeting: String? = nil,
        blob: [UInt8]? = nil,
        color: Courier_Legacy_Legacy.Color? = nil,
        ratio: Double? = nil,
        limit: Float? = nil,
        isOn: Bool? = nil,
        big: UInt64? = nil,
        loose: [Int32] = [],
        tight: [Int32] = [],
        colors: [Courier_Legacy_Legacy.Color] = [],
        other: Courier_Legacy_Legacy.Part? = nil,
        notANumber: Double? = nil
    ) {
        self.id = id
        self.name = name
        self.part = part
        self.count = count
        self.greeting = greeting
        self.blob = blob
        self.color = color
        self.ratio = ratio
        self.limit = limit
        self.isOn = isOn
        self.big = big
        self.loose = loose
        self.tight = tight
        self.colors = colors
        self.other = other
        self.notANumber = notANumber
    }

    /// The schema of the fields, for libprotobuf-c.
    static let protobufSchema: ProtobufSchema = .init(
        "courier.legacy.Legacy",
        [
            .init(1, "id", .int32),
            .init(2, "name", .string),
            .init(3, "part", .message { Courier_Legacy_Legacy.Part.protobufSchema }),
            .init(4, "count", .int32),
            .init(5, "greeting", .string),
            .init(6, "blob", .bytes),
            .init(7, "color", .enumeration),
            .init(8, "ratio", .double),
            .init(9, "limit", .float),
            .init(10, "is_on", .bool),
            .init(11, "big", .uint64),
            .init(12, "loose", .int32, .repeated),
            .init(13, "tight", .int32, .packed),
            .init(14, "colors", .enumeration, .repeated),
            .init(15, "other", .message { Courier_Legacy_Legacy.Part.protobufSchema }),
            .init(16, "not_a_number", .double),
        ]
    )

    /// Reads the fields that are present.
    mutating func readProtobuf(_ fields: ProtobufReader) throws {
        try fields.readRequired(0, ProtobufCodec.Number<Int32>.self, into: &id)
        try fields.readRequired(1, ProtobufCodec.Text.self, into: &name)
        try fields.readRequiredMessage(2, ProtobufCodec.Message<Courier_Legacy_Legacy.Part>.self, into: &part)
        try fields.readOptional(3, ProtobufCodec.Number<Int32>.self, into: &count)
        try fields.readOptional(4, ProtobufCodec.Text.self, into: &greeting)
        try fields.readOptional(5, ProtobufCodec.Bytes.self, into: &blob)
        try fields.readOptional(6, ProtobufCodec.Enumeration<Courier_Legacy_Legacy.Color>.self, into: &color)
        try fields.readOptional(7, ProtobufCodec.Number<Double>.self, into: &ratio)
        try fields.readOptional(8, ProtobufCodec.Number<Float>.self, into: &limit)
        try fields.readOptional(9, ProtobufCodec.Flag.self, into: &isOn)
        try fields.readOptional(10, ProtobufCodec.Number<UInt64>.self, into: &big)
        try fields.readRepeated(11, ProtobufCodec.Number<Int32>.self, into: &loose)
        try fields.readRepeated(12, ProtobufCodec.Number<Int32>.self, into: &tight)
        try fields.readRepeated(13, ProtobufCodec.Enumeration<Courier_Legacy_Legacy.Color>.self, into: &colors)
        try fields.readMessage(14, ProtobufCodec.Message<Courier_Legacy_Legacy.Part>.self, into: &other)
        try fields.readOptional(15, ProtobufCodec.Number<Double>.self, into: &notANumber)
        fields.readUnknown(into: &unknownFields)
    }

    /// Writes the fields.
    func writeProtobuf(_ fields: ProtobufWriter) throws {
        try fields.writeRequired(0, ProtobufCodec.Number<Int32>.self, id)
        try fields.writeRequired(1, ProtobufCodec.Text.self, name)
        try fields.writeMessage(2, ProtobufCodec.Message<Courier_Legacy_Legacy.Part>.self, part)
        try fields.writeOptional(3, ProtobufCodec.Number<Int32>.self, count)
        try fields.writeOptional(4, ProtobufCodec.Text.self, greeting)
        try fields.writeOptional(5, ProtobufCodec.Bytes.self, blob)
        try fields.writeOptional(6, ProtobufCodec.Enumeration<Courier_Legacy_Legacy.Color>.self, color)
        try fields.writeOptional(7, ProtobufCodec.Number<Double>.self, ratio)
        try fields.writeOptional(8, ProtobufCodec.Number<Float>.self, limit)
        try fields.writeOptional(9, ProtobufCodec.Flag.self, isOn)
        try fields.writeOptional(10, ProtobufCodec.Number<UInt64>.self, big)
        try fields.writeRepeated(11, ProtobufCodec.Number<Int32>.self, loose)
        try fields.writeRepeated(12, ProtobufCodec.Number<Int32>.self, tight)
        try fields.writeRepeated(13, ProtobufCodec.Enumeration<Courier_Legacy_Legacy.Color>.self, colors)
        try fields.writeMessage(14, ProtobufCodec.Message<Courier_Legacy_Legacy.Part>.self, other)
        try fields.writeOptional(15, ProtobufCodec.Number<Double>.self, notANumber)
        try fields.writeUnknown(unknownFields)
    }
}
