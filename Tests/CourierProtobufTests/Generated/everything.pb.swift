// Made by protoc-gen-courier from everything.proto. Changes would be lost.
// swift-format-ignore-file

import CourierProtobuf

/// `Mood` of the `.proto` file.
enum Courier_Test_Mood: ProtobufEnum, CaseIterable {
    /// `MOOD_UNKNOWN`, 0.
    case unknown
    /// All is well.
    case glad
    /// `MOOD_SAD`, 2.
    case sad
    /// `MOOD_BITTER_SWEET`, -3.
    case bitterSweet
    /// `MOOD_DEFAULT`, 7.
    case `default`
    /// A number that the `.proto` file does not name.
    case unrecognized(Int32)

    /// `MOOD_HAPPY`, 1.
    static let happy = Courier_Test_Mood.glad

    /// All values that the `.proto` file names.
    static let allCases: [Courier_Test_Mood] = [.unknown, .glad, .sad, .bitterSweet, .`default`]

    /// Makes `unknown`.
    init() { self = .unknown }

    /// Makes the value for a number.
    init(rawValue: Int32) {
        switch rawValue {
        case 0: self = .unknown
        case 1: self = .glad
        case 2: self = .sad
        case -3: self = .bitterSweet
        case 7: self = .`default`
        default: self = .unrecognized(rawValue)
        }
    }

    /// The number on the wire.
    var rawValue: Int32 {
        switch self {
        case .unknown: 0
        case .glad: 1
        case .sad: 2
        case .bitterSweet: -3
        case .`default`: 7
        case .unrecognized(let number): number
        }
    }
}

/// Every feature of the language that Courier takes.
///
/// It has a second paragraph, with "quotes" and a back\slash.
struct Courier_Test_Everything: GeneratedProtobufMessage {
    /// Nested, with its own nested type.
    struct Inner: GeneratedProtobufMessage {
        /// `Level` of the `.proto` file.
        enum Level: ProtobufEnum, CaseIterable {
            /// `LEVEL_LOW`, 0.
            case low
            /// `LEVEL_HIGH`, 1.
            case high
            /// A number that the `.proto` file does not name.
            case unrecognized(Int32)

            /// All values that the `.proto` file names.
            static let allCases: [Level] = [.low, .high]

            /// Makes `low`.
            init() { self = .low }

            /// Makes the value for a number.
            init(rawValue: Int32) {
                switch rawValue {
                case 0: self = .low
                case 1: self = .high
                default: self = .unrecognized(rawValue)
                }
            }

            /// The number on the wire.
            var rawValue: Int32 {
                switch self {
                case .low: 0
                case .high: 1
                case .unrecognized(let number): number
                }
            }
        }

        /// `Deeper` of the `.proto` file.
        struct Deeper: GeneratedProtobufMessage {
            /// `words`.
            var words: String = ""
            /// Fields that this version of the `.proto` file does not have.
            var unknownFields = ProtobufUnknownFields()

            /// Makes a message whose fields all have their defaults.
            init() {}

            /// Makes a message.
            init(
                words: String = ""
            ) {
                self.words = words
            }

            /// The schema of the fields, for libprotobuf-c.
            static let protobufSchema: ProtobufSchema = .init(
                "courier.test.Everything.Inner.Deeper",
                [
                    .init(1, "words", .string),
                ]
            )

            /// Reads the fields that are present.
            mutating func readProtobuf(_ fields: ProtobufReader) throws {
                try fields.read(0, ProtobufCodec.Text.self, into: &words)
                fields.readUnknown(into: &unknownFields)
            }

            /// Writes the fields.
            func writeProtobuf(_ fields: ProtobufWriter) throws {
                try fields.write(0, ProtobufCodec.Text.self, words)
                try fields.writeUnknown(unknownFields)
            }
        }

        /// `number`.
        var number: Int32 = 0
        /// `level`.
        var level: Courier_Test_Everything.Inner.Level = Courier_Test_Everything.Inner.Level()
        /// `deeper`.
        var deeper: Courier_Test_Everything.Inner.Deeper?
        /// Fields that this version of the `.proto` file does not have.
        var unknownFields = ProtobufUnknownFields()

        /// Makes a message whose fields all have their defaults.
        init() {}

        /// Makes a message.
        init(
            number: Int32 = 0,
            level: Courier_Test_Everything.Inner.Level = Courier_Test_Everything.Inner.Level(),
            deeper: Courier_Test_Everything.Inner.Deeper? = nil
        ) {
            self.number = number
            self.level = level
            self.deeper = deeper
        }

        /// The schema of the fields, for libprotobuf-c.
        static let protobufSchema: ProtobufSchema = .init(
            "courier.test.Everything.Inner",
            [
                .init(1, "number", .int32),
                .init(2, "level", .enumeration),
                .init(3, "deeper", .message { Courier_Test_Everything.Inner.Deeper.protobufSchema }),
            ]
        )

        /// Reads the fields that are present.
        mutating func readProtobuf(_ fields: ProtobufReader) throws {
            try fields.read(0, ProtobufCodec.Number<Int32>.self, into: &number)
            try fields.read(1, ProtobufCodec.Enumeration<Courier_Test_Everything.Inner.Level>.self, into: &level)
            try fields.readMessage(2, ProtobufCodec.Message<Courier_Test_Everything.Inner.Deeper>.self, into: &deeper)
            fields.readUnknown(into: &unknownFields)
        }

        /// Writes the fields.
        func writeProtobuf(_ fields: ProtobufWriter) throws {
            try fields.write(0, ProtobufCodec.Number<Int32>.self, number)
            try fields.write(1, ProtobufCodec.Enumeration<Courier_Test_Everything.Inner.Level>.self, level)
            try fields.writeMessage(2, ProtobufCodec.Message<Courier_Test_Everything.Inner.Deeper>.self, deeper)
            try fields.writeUnknown(unknownFields)
        }
    }

    /// `Type` of the `.proto` file.
    struct Type_: GeneratedProtobufMessage {
        /// `type`.
        var type: Int32 = 0
        /// `Protocol`.
        var `protocol`: Int32 = 0
        /// Fields that this version of the `.proto` file does not have.
        var unknownFields = ProtobufUnknownFields()

        /// Makes a message whose fields all have their defaults.
        init() {}

        /// Makes a message.
        init(
            type: Int32 = 0,
            `protocol`: Int32 = 0
        ) {
            self.type = type
            self.`protocol` = `protocol`
        }

        /// The schema of the fields, for libprotobuf-c.
        static let protobufSchema: ProtobufSchema = .init(
            "courier.test.Everything.Type",
            [
                .init(1, "type", .int32),
                .init(2, "Protocol", .int32),
            ]
        )

        /// Reads the fields that are present.
        mutating func readProtobuf(_ fields: ProtobufReader) throws {
            try fields.read(0, ProtobufCodec.Number<Int32>.self, into: &type)
            try fields.read(1, ProtobufCodec.Number<Int32>.self, into: &`protocol`)
            fields.readUnknown(into: &unknownFields)
        }

        /// Writes the fields.
        func writeProtobuf(_ fields: ProtobufWriter) throws {
            try fields.write(0, ProtobufCodec.Number<Int32>.self, type)
            try fields.write(1, ProtobufCodec.Number<Int32>.self, `protocol`)
            try fields.writeUnknown(unknownFields)
        }
    }

    /// What it carries.
    enum Payload: Hashable, Sendable {
        /// A plain text.
        case text(String)
        /// `raw`.
        case raw([UInt8])
        /// `number`.
        case number(Int64)
        /// `inner`.
        case inner(Courier_Test_Everything.Inner)
        /// `self`.
        indirect case self_(Courier_Test_Everything)
        /// `feeling`.
        case feeling(Courier_Test_Mood)
        /// `wrapped_text`.
        case wrappedText(String)
        /// `default`.
        case `default`(Bool)
    }

    /// At most one of the fields of `second`.
    enum Second: Hashable, Sendable {
        /// `left`.
        case left(Int32)
        /// `right`.
        case right(Duration)
    }

    /// Scalars whose presence does not count.
    var aDouble: Double = 0
    /// `a_float`.
    var aFloat: Float = 0
    /// `an_int32`.
    var anInt32: Int32 = 0
    /// `an_int64`.
    var anInt64: Int64 = 0
    /// `a_uint32`.
    var aUint32: UInt32 = 0
    /// `a_uint64`.
    var aUint64: UInt64 = 0
    /// `a_sint32`.
    var aSint32: Int32 = 0
    /// `a_sint64`.
    var aSint64: Int64 = 0
    /// `a_fixed32`.
    var aFixed32: UInt32 = 0
    /// `a_fixed64`.
    var aFixed64: UInt64 = 0
    /// `a_sfixed32`.
    var aSfixed32: Int32 = 0
    /// `a_sfixed64`.
    var aSfixed64: Int64 = 0
    /// `a_bool`.
    var aBool: Bool = false
    /// `a_string`.
    var aString: String = ""
    /// `a_bytes`.
    var aBytes: [UInt8] = []
    /// `a_mood`.
    var aMood: Courier_Test_Mood = Courier_Test_Mood()
    /// `a_place`.
    var aPlace: Courier_Shared_Place?
    /// Presence counts here.
    var maybeInt32: Int32?
    /// `maybe_bool`.
    var maybeBool: Bool?
    /// `maybe_string`.
    var maybeString: String?
    /// `maybe_bytes`.
    var maybeBytes: [UInt8]?
    /// `maybe_mood`.
    var maybeMood: Courier_Test_Mood?
    /// `maybe_double`.
    var maybeDouble: Double?
    /// `maybe_uint64`.
    var maybeUint64: UInt64?
    /// `doubles`.
    var doubles: [Double] = []
    /// `floats`.
    var floats: [Float] = []
    /// `int32s`.
    var int32s: [Int32] = []
    /// `int64s`.
    var int64s: [Int64] = []
    /// `uint32s`.
    var uint32s: [UInt32] = []
    /// `uint64s`.
    var uint64s: [UInt64] = []
    /// `sint32s`.
    var sint32s: [Int32] = []
    /// `sint64s`.
    var sint64s: [Int64] = []
    /// `fixed32s`.
    var fixed32s: [UInt32] = []
    /// `fixed64s`.
    var fixed64s: [UInt64] = []
    /// `sfixed32s`.
    var sfixed32s: [Int32] = []
    /// `sfixed64s`.
    var sfixed64s: [Int64] = []
    /// `bools`.
    var bools: [Bool] = []
    /// `strings`.
    var strings: [String] = []
    /// `byte_strings`.
    var byteStrings: [[UInt8]] = []
    /// `moods`.
    var moods: [Courier_Test_Mood] = []
    /// `places`.
    var places: [Courier_Shared_Place] = []
    /// `unpacked`.
    var unpacked: [Int32] = []
    /// `counts`.
    var counts: [String: Int32] = [:]
    /// `names`.
    var names: [Int64: String] = [:]
    /// `inners`.
    var inners: [Bool: Courier_Test_Everything.Inner] = [:]
    /// `mood_of`.
    var moodOf: [String: Courier_Test_Mood] = [:]
    /// `blobs`.
    var blobs: [UInt32: [UInt8]] = [:]
    /// `shares`.
    var shares: [Int32: Double] = [:]
    /// `times`.
    var times: [UInt64: ProtobufTimestamp] = [:]
    /// What it carries.
    var payload: Payload?
    /// At most one of the fields of `second`.
    var second: Second?
    /// `created`.
    var created: ProtobufTimestamp?
    /// `lasted`.
    var lasted: Duration?
    /// `nothing`.
    var nothing: ProtobufEmpty?
    /// `details`.
    var details: [String: ProtobufValue]?
    /// `value`.
    var value: ProtobufValue?
    /// `list`.
    var list: [ProtobufValue]?
    /// `any`.
    var any: ProtobufAny?
    /// `mask`.
    var mask: ProtobufFieldMask?
    /// `wrapped_double`.
    var wrappedDouble: Double?
    /// `wrapped_float`.
    var wrappedFloat: Float?
    /// `wrapped_int64`.
    var wrappedInt64: Int64?
    /// `wrapped_uint64`.
    var wrappedUint64: UInt64?
    /// `wrapped_int32`.
    var wrappedInt32: Int32?
    /// `wrapped_uint32`.
    var wrappedUint32: UInt32?
    /// `wrapped_bool`.
    var wrappedBool: Bool?
    /// `wrapped_string`.
    var wrappedString: String?
    /// `wrapped_bytes`.
    var wrappedBytes: [UInt8]?
    /// `wrapped_list`.
    var wrappedList: [Int32] = []
    /// It contains itself.
    @ProtobufIndirect var child: Courier_Test_Everything? = nil
    /// `children`.
    var children: [Courier_Test_Everything] = []
    /// `tree`.
    var tree: Courier_Test_Left?
    /// `legacy`.
    var legacy: Courier_Legacy_Legacy?
    /// Names that Swift has plans for.
    var `class`: Int32 = 0
    /// `init`.
    var init_: Int32 = 0
    /// `in`.
    var `in`: String = ""
    /// `protocol`.
    var `protocol`: Bool = false
    /// `unknown_fields`.
    var unknownFields_: Int32 = 0
    /// `type`.
    var type: Courier_Test_Everything.Type_?
    /// `fields`.
    var fields: String = ""
    /// `user_id`.
    var userID: Int32 = 0
    /// Fields that this version of the `.proto` file does not have.
    var unknownFields = ProtobufUnknownFields()

    /// Makes a message whose fields all have their defaults.
    init() {}

    /// Makes a message.
    init(
        aDouble: Double = 0,
        aFloat: Float = 0,
        anInt32: Int32 = 0,
        anInt64: Int64 = 0,
        aUint32: UInt32 = 0,
        aUint64: UInt64 = 0,
        aSint32: Int32 = 0,
        aSint64: Int64 = 0,
        aFixed32: UInt32 = 0,
        aFixed64: UInt64 = 0,
        aSfixed32: Int32 = 0,
        aSfixed64: Int64 = 0,
        aBool: Bool = false,
        aString: String = "",
        aBytes: [UInt8] = [],
        aMood: Courier_Test_Mood = Courier_Test_Mood(),
        aPlace: Courier_Shared_Place? = nil,
        maybeInt32: Int32? = nil,
        maybeBool: Bool? = nil,
        maybeString: String? = nil,
        maybeBytes: [UInt8]? = nil,
        maybeMood: Courier_Test_Mood? = nil,
        maybeDouble: Double? = nil,
        maybeUint64: UInt64? = nil,
        doubles: [Double] = [],
        floats: [Float] = [],
        int32s: [Int32] = [],
        int64s: [Int64] = [],
        uint32s: [UInt32] = [],
        uint64s: [UInt64] = [],
        sint32s: [Int32] = [],
        sint64s: [Int64] = [],
        fixed32s: [UInt32] = [],
        fixed64s: [UInt64] = [],
        sfixed32s: [Int32] = [],
        sfixed64s: [Int64] = [],
        bools: [Bool] = [],
        strings: [String] = [],
        byteStrings: [[UInt8]] = [],
        moods: [Courier_Test_Mood] = [],
        places: [Courier_Shared_Place] = [],
        unpacked: [Int32] = [],
        counts: [String: Int32] = [:],
        names: [Int64: String] = [:],
        inners: [Bool: Courier_Test_Everything.Inner] = [:],
        moodOf: [String: Courier_Test_Mood] = [:],
        blobs: [UInt32: [UInt8]] = [:],
        shares: [Int32: Double] = [:],
        times: [UInt64: ProtobufTimestamp] = [:],
        payload: Payload? = nil,
        second: Second? = nil,
        created: ProtobufTimestamp? = nil,
        lasted: Duration? = nil,
        nothing: ProtobufEmpty? = nil,
        details: [String: ProtobufValue]? = nil,
        value: ProtobufValue? = nil,
        list: [ProtobufValue]? = nil,
        any: ProtobufAny? = nil,
        mask: ProtobufFieldMask? = nil,
        wrappedDouble: Double? = nil,
        wrappedFloat: Float? = nil,
        wrappedInt64: Int64? = nil,
        wrappedUint64: UInt64? = nil,
        wrappedInt32: Int32? = nil,
        wrappedUint32: UInt32? = nil,
        wrappedBool: Bool? = nil,
        wrappedString: String? = nil,
        wrappedBytes: [UInt8]? = nil,
        wrappedList: [Int32] = [],
        child: Courier_Test_Everything? = nil,
        children: [Courier_Test_Everything] = [],
        tree: Courier_Test_Left? = nil,
        legacy: Courier_Legacy_Legacy? = nil,
        `class`: Int32 = 0,
        init_: Int32 = 0,
        `in`: String = "",
        `protocol`: Bool = false,
        unknownFields_: Int32 = 0,
        type: Courier_Test_Everything.Type_? = nil,
        fields: String = "",
        userID: Int32 = 0
    ) {
        self.aDouble = aDouble
        self.aFloat = aFloat
        self.anInt32 = anInt32
        self.anInt64 = anInt64
        self.aUint32 = aUint32
        self.aUint64 = aUint64
        self.aSint32 = aSint32
        self.aSint64 = aSint64
        self.aFixed32 = aFixed32
        self.aFixed64 = aFixed64
        self.aSfixed32 = aSfixed32
        self.aSfixed64 = aSfixed64
        self.aBool = aBool
        self.aString = aString
        self.aBytes = aBytes
        self.aMood = aMood
        self.aPlace = aPlace
        self.maybeInt32 = maybeInt32
        self.maybeBool = maybeBool
        self.maybeString = maybeString
        self.maybeBytes = maybeBytes
        self.maybeMood = maybeMood
        self.maybeDouble = maybeDouble
        self.maybeUint64 = maybeUint64
        self.doubles = doubles
        self.floats = floats
        self.int32s = int32s
        self.int64s = int64s
        self.uint32s = uint32s
        self.uint64s = uint64s
        self.sint32s = sint32s
        self.sint64s = sint64s
        self.fixed32s = fixed32s
        self.fixed64s = fixed64s
        self.sfixed32s = sfixed32s
        self.sfixed64s = sfixed64s
        self.bools = bools
        self.strings = strings
        self.byteStrings = byteStrings
        self.moods = moods
        self.places = places
        self.unpacked = unpacked
        self.counts = counts
        self.names = names
        self.inners = inners
        self.moodOf = moodOf
        self.blobs = blobs
        self.shares = shares
        self.times = times
        self.payload = payload
        self.second = second
        self.created = created
        self.lasted = lasted
        self.nothing = nothing
        self.details = details
        self.value = value
        self.list = list
        self.any = any
        self.mask = mask
        self.wrappedDouble = wrappedDouble
        self.wrappedFloat = wrappedFloat
        self.wrappedInt64 = wrappedInt64
        self.wrappedUint64 = wrappedUint64
        self.wrappedInt32 = wrappedInt32
        self.wrappedUint32 = wrappedUint32
        self.wrappedBool = wrappedBool
        self.wrappedString = wrappedString
        self.wrappedBytes = wrappedBytes
        self.wrappedList = wrappedList
        self.child = child
        self.children = children
        self.tree = tree
        self.legacy = legacy
        self.`class` = `class`
        self.init_ = init_
        self.`in` = `in`
        self.`protocol` = `protocol`
        self.unknownFields_ = unknownFields_
        self.type = type
        self.fields = fields
        self.userID = userID
    }

    /// The schema of the fields, for libprotobuf-c.
    static let protobufSchema: ProtobufSchema = .init(
        "courier.test.Everything",
        [
            .init(1, "a_double", .double),
            .init(2, "a_float", .float),
            .init(3, "an_int32", .int32),
            .init(4, "an_int64", .int64),
            .init(5, "a_uint32", .uint32),
            .init(6, "a_uint64", .uint64),
            .init(7, "a_sint32", .sint32),
            .init(8, "a_sint64", .sint64),
            .init(9, "a_fixed32", .fixed32),
            .init(10, "a_fixed64", .fixed64),
            .init(11, "a_sfixed32", .sfixed32),
            .init(12, "a_sfixed64", .sfixed64),
            .init(13, "a_bool", .bool),
            .init(14, "a_string", .string),
            .init(15, "a_bytes", .bytes),
            .init(16, "a_mood", .enumeration),
            .init(17, "a_place", .message { Courier_Shared_Place.protobufSchema }),
            .init(21, "maybe_int32", .int32),
            .init(22, "maybe_bool", .bool),
            .init(23, "maybe_string", .string),
            .init(24, "maybe_bytes", .bytes),
            .init(25, "maybe_mood", .enumeration),
            .init(26, "maybe_double", .double),
            .init(27, "maybe_uint64", .uint64),
            .init(31, "doubles", .double, .packed),
            .init(32, "floats", .float, .packed),
            .init(33, "int32s", .int32, .packed),
            .init(34, "int64s", .int64, .packed),
            .init(35, "uint32s", .uint32, .packed),
            .init(36, "uint64s", .uint64, .packed),
            .init(37, "sint32s", .sint32, .packed),
            .init(38, "sint64s", .sint64, .packed),
            .init(39, "fixed32s", .fixed32, .packed),
            .init(40, "fixed64s", .fixed64, .packed),
            .init(41, "sfixed32s", .sfixed32, .packed),
            .init(42, "sfixed64s", .sfixed64, .packed),
            .init(43, "bools", .bool, .packed),
            .init(44, "strings", .string, .repeated),
            .init(45, "byte_strings", .bytes, .repeated),
            .init(46, "moods", .enumeration, .packed),
            .init(47, "places", .message { Courier_Shared_Place.protobufSchema }, .repeated),
            .init(48, "unpacked", .int32, .repeated),
            .map(51, "counts", key: .string, value: .int32),
            .map(52, "names", key: .int64, value: .string),
            .map(53, "inners", key: .bool, value: .message { Courier_Test_Everything.Inner.protobufSchema }),
            .map(54, "mood_of", key: .string, value: .enumeration),
            .map(55, "blobs", key: .uint32, value: .bytes),
            .map(56, "shares", key: .sint32, value: .double),
            .map(57, "times", key: .fixed64, value: .message { ProtobufTimestamp.protobufSchema }),
            .init(61, "text", .string, .member(of: 49)),
            .init(62, "raw", .bytes, .member(of: 49)),
            .init(63, "number", .sint64, .member(of: 49)),
            .init(64, "inner", .message { Courier_Test_Everything.Inner.protobufSchema }, .member(of: 49)),
            .init(65, "self", .message { Courier_Test_Everything.protobufSchema }, .member(of: 49)),
            .init(66, "feeling", .enumeration, .member(of: 49)),
            .init(67, "wrapped_text", .message { .wrappedString }, .member(of: 49)),
            .init(68, "default", .bool, .member(of: 49)),
            .init(71, "left", .int32, .member(of: 57)),
            .init(72, "right", .message { .duration }, .member(of: 57)),
            .init(81, "created", .message { ProtobufTimestamp.protobufSchema }),
            .init(82, "lasted", .message { .duration }),
            .init(83, "nothing", .message { ProtobufEmpty.protobufSchema }),
            .init(84, "details", .message { .structure }),
            .init(85, "value", .message { .value }),
            .init(86, "list", .message { .list }),
            .init(87, "any", .message { ProtobufAny.protobufSchema }),
            .init(88, "mask", .message { ProtobufFieldMask.protobufSchema }),
            .init(89, "wrapped_double", .message { .wrappedDouble }),
            .init(90, "wrapped_float", .message { .wrappedFloat }),
            .init(91, "wrapped_int64", .message { .wrappedInt64 }),
            .init(92, "wrapped_uint64", .message { .wrappedUInt64 }),
            .init(93, "wrapped_int32", .message { .wrappedInt32 }),
            .init(94, "wrapped_uint32", .message { .wrappedUInt32 }),
            .init(95, "wrapped_bool", .message { .wrappedBool }),
            .init(96, "wrapped_string", .message { .wrappedString }),
            .init(97, "wrapped_bytes", .message { .wrappedBytes }),
            .init(98, "wrapped_list", .message { .wrappedInt32 }, .repeated),
            .init(101, "child", .message { Courier_Test_Everything.protobufSchema }),
            .init(102, "children", .message { Courier_Test_Everything.protobufSchema }, .repeated),
            .init(103, "tree", .message { Courier_Test_Left.protobufSchema }),
            .init(104, "legacy", .message { Courier_Legacy_Legacy.protobufSchema }),
            .init(111, "class", .int32),
            .init(112, "init", .int32),
            .init(113, "in", .string),
            .init(114, "protocol", .bool),
            .init(115, "unknown_fields", .int32),
            .init(116, "type", .message { Courier_Test_Everything.Type_.protobufSchema }),
            .init(117, "fields", .string),
            .init(536870911, "user_id", .int32),
        ]
    )

    /// Reads the fields that are present.
    mutating func readProtobuf(_ fields: ProtobufReader) throws {
        try fields.read(0, ProtobufCodec.Number<Double>.self, into: &aDouble)
        try fields.read(1, ProtobufCodec.Number<Float>.self, into: &aFloat)
        try fields.read(2, ProtobufCodec.Number<Int32>.self, into: &anInt32)
        try fields.read(3, ProtobufCodec.Number<Int64>.self, into: &anInt64)
        try fields.read(4, ProtobufCodec.Number<UInt32>.self, into: &aUint32)
        try fields.read(5, ProtobufCodec.Number<UInt64>.self, into: &aUint64)
        try fields.read(6, ProtobufCodec.Number<Int32>.self, into: &aSint32)
        try fields.read(7, ProtobufCodec.Number<Int64>.self, into: &aSint64)
        try fields.read(8, ProtobufCodec.Number<UInt32>.self, into: &aFixed32)
        try fields.read(9, ProtobufCodec.Number<UInt64>.self, into: &aFixed64)
        try fields.read(10, ProtobufCodec.Number<Int32>.self, into: &aSfixed32)
        try fields.read(11, ProtobufCodec.Number<Int64>.self, into: &aSfixed64)
        try fields.read(12, ProtobufCodec.Flag.self, into: &aBool)
        try fields.read(13, ProtobufCodec.Text.self, into: &aString)
        try fields.read(14, ProtobufCodec.Bytes.self, into: &aBytes)
        try fields.read(15, ProtobufCodec.Enumeration<Courier_Test_Mood>.self, into: &aMood)
        try fields.readMessage(16, ProtobufCodec.Message<Courier_Shared_Place>.self, into: &aPlace)
        try fields.readOptional(17, ProtobufCodec.Number<Int32>.self, into: &maybeInt32)
        try fields.readOptional(18, ProtobufCodec.Flag.self, into: &maybeBool)
        try fields.readOptional(19, ProtobufCodec.Text.self, into: &maybeString)
        try fields.readOptional(20, ProtobufCodec.Bytes.self, into: &maybeBytes)
        try fields.readOptional(21, ProtobufCodec.Enumeration<Courier_Test_Mood>.self, into: &maybeMood)
        try fields.readOptional(22, ProtobufCodec.Number<Double>.self, into: &maybeDouble)
        try fields.readOptional(23, ProtobufCodec.Number<UInt64>.self, into: &maybeUint64)
        try fields.readRepeated(24, ProtobufCodec.Number<Double>.self, into: &doubles)
        try fields.readRepeated(25, ProtobufCodec.Number<Float>.self, into: &floats)
        try fields.readRepeated(26, ProtobufCodec.Number<Int32>.self, into: &int32s)
        try fields.readRepeated(27, ProtobufCodec.Number<Int64>.self, into: &int64s)
        try fields.readRepeated(28, ProtobufCodec.Number<UInt32>.self, into: &uint32s)
        try fields.readRepeated(29, ProtobufCodec.Number<UInt64>.self, into: &uint64s)
        try fields.readRepeated(30, ProtobufCodec.Number<Int32>.self, into: &sint32s)
        try fields.readRepeated(31, ProtobufCodec.Number<Int64>.self, into: &sint64s)
        try fields.readRepeated(32, ProtobufCodec.Number<UInt32>.self, into: &fixed32s)
        try fields.readRepeated(33, ProtobufCodec.Number<UInt64>.self, into: &fixed64s)
        try fields.readRepeated(34, ProtobufCodec.Number<Int32>.self, into: &sfixed32s)
        try fields.readRepeated(35, ProtobufCodec.Number<Int64>.self, into: &sfixed64s)
        try fields.readRepeated(36, ProtobufCodec.Flag.self, into: &bools)
        try fields.readRepeated(37, ProtobufCodec.Text.self, into: &strings)
        try fields.readRepeated(38, ProtobufCodec.Bytes.self, into: &byteStrings)
        try fields.readRepeated(39, ProtobufCodec.Enumeration<Courier_Test_Mood>.self, into: &moods)
        try fields.readRepeated(40, ProtobufCodec.Message<Courier_Shared_Place>.self, into: &places)
        try fields.readRepeated(41, ProtobufCodec.Number<Int32>.self, into: &unpacked)
        try fields.readMap(42, key: ProtobufCodec.Text.self, value: ProtobufCodec.Number<Int32>.self, into: &counts)
        try fields.readMap(43, key: ProtobufCodec.Number<Int64>.self, value: ProtobufCodec.Text.self, into: &names)
        try fields.readMap(44, key: ProtobufCodec.Flag.self, value: ProtobufCodec.Message<Courier_Test_Everything.Inner>.self, into: &inners)
        try fields.readMap(45, key: ProtobufCodec.Text.self, value: ProtobufCodec.Enumeration<Courier_Test_Mood>.self, into: &moodOf)
        try fields.readMap(46, key: ProtobufCodec.Number<UInt32>.self, value: ProtobufCodec.Bytes.self, into: &blobs)
        try fields.readMap(47, key: ProtobufCodec.Number<Int32>.self, value: ProtobufCodec.Number<Double>.self, into: &shares)
        try fields.readMap(48, key: ProtobufCodec.Number<UInt64>.self, value: ProtobufCodec.Message<ProtobufTimestamp>.self, into: &times)
        try fields.readMessage(59, ProtobufCodec.Message<ProtobufTimestamp>.self, into: &created)
        try fields.readMessage(60, ProtobufCodec.Span.self, into: &lasted)
        try fields.readMessage(61, ProtobufCodec.Message<ProtobufEmpty>.self, into: &nothing)
        try fields.readMessage(62, ProtobufCodec.Structure.self, into: &details)
        try fields.readMessage(63, ProtobufCodec.AnyValue.self, into: &value)
        try fields.readMessage(64, ProtobufCodec.List.self, into: &list)
        try fields.readMessage(65, ProtobufCodec.Message<ProtobufAny>.self, into: &any)
        try fields.readMessage(66, ProtobufCodec.Message<ProtobufFieldMask>.self, into: &mask)
        try fields.readMessage(67, ProtobufCodec.Wrapped<ProtobufCodec.Number<Double>>.self, into: &wrappedDouble)
        try fields.readMessage(68, ProtobufCodec.Wrapped<ProtobufCodec.Number<Float>>.self, into: &wrappedFloat)
        try fields.readMessage(69, ProtobufCodec.Wrapped<ProtobufCodec.Number<Int64>>.self, into: &wrappedInt64)
        try fields.readMessage(70, ProtobufCodec.Wrapped<ProtobufCodec.Number<UInt64>>.self, into: &wrappedUint64)
        try fields.readMessage(71, ProtobufCodec.Wrapped<ProtobufCodec.Number<Int32>>.self, into: &wrappedInt32)
        try fields.readMessage(72, ProtobufCodec.Wrapped<ProtobufCodec.Number<UInt32>>.self, into: &wrappedUint32)
        try fields.readMessage(73, ProtobufCodec.Wrapped<ProtobufCodec.Flag>.self, into: &wrappedBool)
        try fields.readMessage(74, ProtobufCodec.Wrapped<ProtobufCodec.Text>.self, into: &wrappedString)
        try fields.readMessage(75, ProtobufCodec.Wrapped<ProtobufCodec.Bytes>.self, into: &wrappedBytes)
        try fields.readRepeated(76, ProtobufCodec.Wrapped<ProtobufCodec.Number<Int32>>.self, into: &wrappedList)
        try fields.readMessage(77, ProtobufCodec.Message<Courier_Test_Everything>.self, into: &child)
        try fields.readRepeated(78, ProtobufCodec.Message<Courier_Test_Everything>.self, into: &children)
        try fields.readMessage(79, ProtobufCodec.Message<Courier_Test_Left>.self, into: &tree)
        try fields.readMessage(80, ProtobufCodec.Message<Courier_Legacy_Legacy>.self, into: &legacy)
        try fields.read(81, ProtobufCodec.Number<Int32>.self, into: &`class`)
        try fields.read(82, ProtobufCodec.Number<Int32>.self, into: &init_)
        try fields.read(83, ProtobufCodec.Text.self, into: &`in`)
        try fields.read(84, ProtobufCodec.Flag.self, into: &`protocol`)
        try fields.read(85, ProtobufCodec.Number<Int32>.self, into: &unknownFields_)
        try fields.readMessage(86, ProtobufCodec.Message<Courier_Test_Everything.Type_>.self, into: &type)
        try fields.read(87, ProtobufCodec.Text.self, into: &self.fields)
        try fields.read(88, ProtobufCodec.Number<Int32>.self, into: &userID)
        switch fields.member(of: 49) {
        case 61:
            self.payload = .text(try fields.readMember(of: 49, 49, ProtobufCodec.Text.self))
        case 62:
            self.payload = .raw(try fields.readMember(of: 49, 50, ProtobufCodec.Bytes.self))
        case 63:
            self.payload = .number(try fields.readMember(of: 49, 51, ProtobufCodec.Number<Int64>.self))
        case 64:
            self.payload = .inner(try fields.readMember(of: 49, 52, ProtobufCodec.Message<Courier_Test_Everything.Inner>.self))
        case 65:
            self.payload = .self_(try fields.readMember(of: 49, 53, ProtobufCodec.Message<Courier_Test_Everything>.self))
        case 66:
            self.payload = .feeling(try fields.readMember(of: 49, 54, ProtobufCodec.Enumeration<Courier_Test_Mood>.self))
        case 67:
            self.payload = .wrappedText(try fields.readMember(of: 49, 55, ProtobufCodec.Wrapped<ProtobufCodec.Text>.self))
        case 68:
            self.payload = .`default`(try fields.readMember(of: 49, 56, ProtobufCodec.Flag.self))
        default: break
        }
        switch fields.member(of: 57) {
        case 71:
            self.second = .left(try fields.readMember(of: 57, 57, ProtobufCodec.Number<Int32>.self))
        case 72:
            self.second = .right(try fields.readMember(of: 57, 58, ProtobufCodec.Span.self))
        default: break
        }
        fields.readUnknown(into: &unknownFields)
    }

    /// Writes the fields.
    func writeProtobuf(_ fields: ProtobufWriter) throws {
        try fields.write(0, ProtobufCodec.Number<Double>.self, aDouble)
        try fields.write(1, ProtobufCodec.Number<Float>.self, aFloat)
        try fields.write(2, ProtobufCodec.Number<Int32>.self, anInt32)
        try fields.write(3, ProtobufCodec.Number<Int64>.self, anInt64)
        try fields.write(4, ProtobufCodec.Number<UInt32>.self, aUint32)
        try fields.write(5, ProtobufCodec.Number<UInt64>.self, aUint64)
        try fields.write(6, ProtobufCodec.Number<Int32>.self, aSint32)
        try fields.write(7, ProtobufCodec.Number<Int64>.self, aSint64)
        try fields.write(8, ProtobufCodec.Number<UInt32>.self, aFixed32)
        try fields.write(9, ProtobufCodec.Number<UInt64>.self, aFixed64)
        try fields.write(10, ProtobufCodec.Number<Int32>.self, aSfixed32)
        try fields.write(11, ProtobufCodec.Number<Int64>.self, aSfixed64)
        try fields.write(12, ProtobufCodec.Flag.self, aBool)
        try fields.write(13, ProtobufCodec.Text.self, aString)
        try fields.write(14, ProtobufCodec.Bytes.self, aBytes)
        try fields.write(15, ProtobufCodec.Enumeration<Courier_Test_Mood>.self, aMood)
        try fields.writeMessage(16, ProtobufCodec.Message<Courier_Shared_Place>.self, aPlace)
        try fields.writeOptional(17, ProtobufCodec.Number<Int32>.self, maybeInt32)
        try fields.writeOptional(18, ProtobufCodec.Flag.self, maybeBool)
        try fields.writeOptional(19, ProtobufCodec.Text.self, maybeString)
        try fields.writeOptional(20, ProtobufCodec.Bytes.self, maybeBytes)
        try fields.writeOptional(21, ProtobufCodec.Enumeration<Courier_Test_Mood>.self, maybeMood)
        try fields.writeOptional(22, ProtobufCodec.Number<Double>.self, maybeDouble)
        try fields.writeOptional(23, ProtobufCodec.Number<UInt64>.self, maybeUint64)
        try fields.writeRepeated(24, ProtobufCodec.Number<Double>.self, doubles)
        try fields.writeRepeated(25, ProtobufCodec.Number<Float>.self, floats)
        try fields.writeRepeated(26, ProtobufCodec.Number<Int32>.self, int32s)
        try fields.writeRepeated(27, ProtobufCodec.Number<Int64>.self, int64s)
        try fields.writeRepeated(28, ProtobufCodec.Number<UInt32>.self, uint32s)
        try fields.writeRepeated(29, ProtobufCodec.Number<UInt64>.self, uint64s)
        try fields.writeRepeated(30, ProtobufCodec.Number<Int32>.self, sint32s)
        try fields.writeRepeated(31, ProtobufCodec.Number<Int64>.self, sint64s)
        try fields.writeRepeated(32, ProtobufCodec.Number<UInt32>.self, fixed32s)
        try fields.writeRepeated(33, ProtobufCodec.Number<UInt64>.self, fixed64s)
        try fields.writeRepeated(34, ProtobufCodec.Number<Int32>.self, sfixed32s)
        try fields.writeRepeated(35, ProtobufCodec.Number<Int64>.self, sfixed64s)
        try fields.writeRepeated(36, ProtobufCodec.Flag.self, bools)
        try fields.writeRepeated(37, ProtobufCodec.Text.self, strings)
        try fields.writeRepeated(38, ProtobufCodec.Bytes.self, byteStrings)
        try fields.writeRepeated(39, ProtobufCodec.Enumeration<Courier_Test_Mood>.self, moods)
        try fields.writeRepeated(40, ProtobufCodec.Message<Courier_Shared_Place>.self, places)
        try fields.writeRepeated(41, ProtobufCodec.Number<Int32>.self, unpacked)
        try fields.writeMap(42, key: ProtobufCodec.Text.self, value: ProtobufCodec.Number<Int32>.self, counts)
        try fields.writeMap(43, key: ProtobufCodec.Number<Int64>.self, value: ProtobufCodec.Text.self, names)
        try fields.writeMap(44, key: ProtobufCodec.Flag.self, value: ProtobufCodec.Message<Courier_Test_Everything.Inner>.self, inners)
        try fields.writeMap(45, key: ProtobufCodec.Text.self, value: ProtobufCodec.Enumeration<Courier_Test_Mood>.self, moodOf)
        try fields.writeMap(46, key: ProtobufCodec.Number<UInt32>.self, value: ProtobufCodec.Bytes.self, blobs)
        try fields.writeMap(47, key: ProtobufCodec.Number<Int32>.self, value: ProtobufCodec.Number<Double>.self, shares)
        try fields.writeMap(48, key: ProtobufCodec.Number<UInt64>.self, value: ProtobufCodec.Message<ProtobufTimestamp>.self, times)
        try fields.writeMessage(59, ProtobufCodec.Message<ProtobufTimestamp>.self, created)
        try fields.writeMessage(60, ProtobufCodec.Span.self, lasted)
        try fields.writeMessage(61, ProtobufCodec.Message<ProtobufEmpty>.self, nothing)
        try fields.writeMessage(62, ProtobufCodec.Structure.self, details)
        try fields.writeMessage(63, ProtobufCodec.AnyValue.self, value)
        try fields.writeMessage(64, ProtobufCodec.List.self, list)
        try fields.writeMessage(65, ProtobufCodec.Message<ProtobufAny>.self, any)
        try fields.writeMessage(66, ProtobufCodec.Message<ProtobufFieldMask>.self, mask)
        try fields.writeMessage(67, ProtobufCodec.Wrapped<ProtobufCodec.Number<Double>>.self, wrappedDouble)
        try fields.writeMessage(68, ProtobufCodec.Wrapped<ProtobufCodec.Number<Float>>.self, wrappedFloat)
        try fields.writeMessage(69, ProtobufCodec.Wrapped<ProtobufCodec.Number<Int64>>.self, wrappedInt64)
        try fields.writeMessage(70, ProtobufCodec.Wrapped<ProtobufCodec.Number<UInt64>>.self, wrappedUint64)
        try fields.writeMessage(71, ProtobufCodec.Wrapped<ProtobufCodec.Number<Int32>>.self, wrappedInt32)
        try fields.writeMessage(72, ProtobufCodec.Wrapped<ProtobufCodec.Number<UInt32>>.self, wrappedUint32)
        try fields.writeMessage(73, ProtobufCodec.Wrapped<ProtobufCodec.Flag>.self, wrappedBool)
        try fields.writeMessage(74, ProtobufCodec.Wrapped<ProtobufCodec.Text>.self, wrappedString)
        try fields.writeMessage(75, ProtobufCodec.Wrapped<ProtobufCodec.Bytes>.self, wrappedBytes)
        try fields.writeRepeated(76, ProtobufCodec.Wrapped<ProtobufCodec.Number<Int32>>.self, wrappedList)
        try fields.writeMessage(77, ProtobufCodec.Message<Courier_Test_Everything>.self, child)
        try fields.writeRepeated(78, ProtobufCodec.Message<Courier_Test_Everything>.self, children)
        try fields.writeMessage(79, ProtobufCodec.Message<Courier_Test_Left>.self, tree)
        try fields.writeMessage(80, ProtobufCodec.Message<Courier_Legacy_Legacy>.self, legacy)
        try fields.write(81, ProtobufCodec.Number<Int32>.self, `class`)
        try fields.write(82, ProtobufCodec.Number<Int32>.self, init_)
        try fields.write(83, ProtobufCodec.Text.self, `in`)
        try fields.write(84, ProtobufCodec.Flag.self, `protocol`)
        try fields.write(85, ProtobufCodec.Number<Int32>.self, unknownFields_)
        try fields.writeMessage(86, ProtobufCodec.Message<Courier_Test_Everything.Type_>.self, type)
        try fields.write(87, ProtobufCodec.Text.self, self.fields)
        try fields.write(88, ProtobufCodec.Number<Int32>.self, userID)
        switch self.payload {
        case .text(let value):
            try fields.writeMember(of: 49, 49, number: 61, ProtobufCodec.Text.self, value)
        case .raw(let value):
            try fields.writeMember(of: 49, 50, number: 62, ProtobufCodec.Bytes.self, value)
        case .number(let value):
            try fields.writeMember(of: 49, 51, number: 63, ProtobufCodec.Number<Int64>.self, value)
        case .inner(let value):
            try fields.writeMember(of: 49, 52, number: 64, ProtobufCodec.Message<Courier_Test_Everything.Inner>.self, value)
        case .self_(let value):
            try fields.writeMember(of: 49, 53, number: 65, ProtobufCodec.Message<Courier_Test_Everything>.self, value)
        case .feeling(let value):
            try fields.writeMember(of: 49, 54, number: 66, ProtobufCodec.Enumeration<Courier_Test_Mood>.self, value)
        case .wrappedText(let value):
            try fields.writeMember(of: 49, 55, number: 67, ProtobufCodec.Wrapped<ProtobufCodec.Text>.self, value)
        case .`default`(let value):
            try fields.writeMember(of: 49, 56, number: 68, ProtobufCodec.Flag.self, value)
        case nil: break
        }
        switch self.second {
        case .left(let value):
            try fields.writeMember(of: 57, 57, number: 71, ProtobufCodec.Number<Int32>.self, value)
        case .right(let value):
            try fields.writeMember(of: 57, 58, number: 72, ProtobufCodec.Span.self, value)
        case nil: break
        }
        try fields.writeUnknown(unknownFields)
    }
}

/// Left and Right contain each other.
struct Courier_Test_Left: GeneratedProtobufMessage {
    /// `right`.
    @ProtobufIndirect var right: Courier_Test_Right? = nil
    /// `value`.
    var value: Int32 = 0
    /// Fields that this version of the `.proto` file does not have.
    var unknownFields = ProtobufUnknownFields()

    /// Makes a message whose fields all have their defaults.
    init() {}

    /// Makes a message.
    init(
        right: Courier_Test_Right? = nil,
        value: Int32 = 0
    ) {
        self.right = right
        self.value = value
    }

    /// The schema of the fields, for libprotobuf-c.
    static let protobufSchema: ProtobufSchema = .init(
        "courier.test.Left",
        [
            .init(1, "right", .message { Courier_Test_Right.protobufSchema }),
            .init(2, "value", .int32),
        ]
    )

    /// Reads the fields that are present.
    mutating func readProtobuf(_ fields: ProtobufReader) throws {
        try fields.readMessage(0, ProtobufCodec.Message<Courier_Test_Right>.self, into: &right)
        try fields.read(1, ProtobufCodec.Number<Int32>.self, into: &value)
        fields.readUnknown(into: &unknownFields)
    }

    /// Writes the fields.
    func writeProtobuf(_ fields: ProtobufWriter) throws {
        try fields.writeMessage(0, ProtobufCodec.Message<Courier_Test_Right>.self, right)
        try fields.write(1, ProtobufCodec.Number<Int32>.self, value)
        try fields.writeUnknown(unknownFields)
    }
}

/// `Right` of the `.proto` file.
struct Courier_Test_Right: GeneratedProtobufMessage {
    /// At most one of the fields of `kind`.
    enum Kind: Hashable, Sendable {
        /// `left`.
        indirect case left(Courier_Test_Left)
        /// `leaf`.
        case leaf(String)
    }

    /// At most one of the fields of `kind`.
    var kind: Kind?
    /// Fields that this version of the `.proto` file does not have.
    var unknownFields = ProtobufUnknownFields()

    /// Makes a message whose fields all have their defaults.
    init() {}

    /// Makes a message.
    init(
        kind: Kind? = nil
    ) {
        self.kind = kind
    }

    /// The schema of the fields, for libprotobuf-c.
    static let protobufSchema: ProtobufSchema = .init(
        "courier.test.Right",
        [
            .init(1, "left", .message { Courier_Test_Left.protobufSchema }, .member(of: 0)),
            .init(2, "leaf", .string, .member(of: 0)),
        ]
    )

    /// Reads the fields that are present.
    mutating func readProtobuf(_ fields: ProtobufReader) throws {
        switch fields.member(of: 0) {
        case 1:
            self.kind = .left(try fields.readMember(of: 0, 0, ProtobufCodec.Message<Courier_Test_Left>.self))
        case 2:
            self.kind = .leaf(try fields.readMember(of: 0, 1, ProtobufCodec.Text.self))
        default: break
        }
        fields.readUnknown(into: &unknownFields)
    }

    /// Writes the fields.
    func writeProtobuf(_ fields: ProtobufWriter) throws {
        switch self.kind {
        case .left(let value):
            try fields.writeMember(of: 0, 0, number: 1, ProtobufCodec.Message<Courier_Test_Left>.self, value)
        case .leaf(let value):
            try fields.writeMember(of: 0, 1, number: 2, ProtobufCodec.Text.self, value)
        case nil: break
        }
        try fields.writeUnknown(unknownFields)
    }
}

/// Some of Everything, as an older version of the program knows it.
struct Courier_Test_Older: GeneratedProtobufMessage {
    /// `an_int32`.
    var anInt32: Int32 = 0
    /// `a_string`.
    var aString: String = ""
    /// `strings`.
    var strings: [String] = []
    /// Fields that this version of the `.proto` file does not have.
    var unknownFields = ProtobufUnknownFields()

    /// Makes a message whose fields all have their defaults.
    init() {}

    /// Makes a message.
    init(
        anInt32: Int32 = 0,
        aString: String = "",
        strings: [String] = []
    ) {
        self.anInt32 = anInt32
        self.aString = aString
        self.strings = strings
    }

    /// The schema of the fields, for libprotobuf-c.
    static let protobufSchema: ProtobufSchema = .init(
        "courier.test.Older",
        [
            .init(3, "an_int32", .int32),
            .init(14, "a_string", .string),
            .init(44, "strings", .string, .repeated),
        ]
    )

    /// Reads the fields that are present.
    mutating func readProtobuf(_ fields: ProtobufReader) throws {
        try fields.read(0, ProtobufCodec.Number<Int32>.self, into: &anInt32)
        try fields.read(1, ProtobufCodec.Text.self, into: &aString)
        try fields.readRepeated(2, ProtobufCodec.Text.self, into: &strings)
        fields.readUnknown(into: &unknownFields)
    }

    /// Writes the fields.
    func writeProtobuf(_ fields: ProtobufWriter) throws {
        try fields.write(0, ProtobufCodec.Number<Int32>.self, anInt32)
        try fields.write(1, ProtobufCodec.Text.self, aString)
        try fields.writeRepeated(2, ProtobufCodec.Text.self, strings)
        try fields.writeUnknown(unknownFields)
    }
}

/// Many at once.
struct Courier_Test_Batch: GeneratedProtobufMessage {
    /// `cases`.
    var cases: [Courier_Test_Everything] = []
    /// Fields that this version of the `.proto` file does not have.
    var unknownFields = ProtobufUnknownFields()

    /// Makes a message whose fields all have their defaults.
    init() {}

    /// Makes a message.
    init(
        cases: [Courier_Test_Everything] = []
    ) {
        self.cases = cases
    }

    /// The schema of the fields, for libprotobuf-c.
    static let protobufSchema: ProtobufSchema = .init(
        "courier.test.Batch",
        [
            .init(1, "cases", .message { Courier_Test_Everything.protobufSchema }, .repeated),
        ]
    )

    /// Reads the fields that are present.
    mutating func readProtobuf(_ fields: ProtobufReader) throws {
        try fields.readRepeated(0, ProtobufCodec.Message<Courier_Test_Everything>.self, into: &cases)
        fields.readUnknown(into: &unknownFields)
    }

    /// Writes the fields.
    func writeProtobuf(_ fields: ProtobufWriter) throws {
        try fields.writeRepeated(0, ProtobufCodec.Message<Courier_Test_Everything>.self, cases)
        try fields.writeUnknown(unknownFields)
    }
}
