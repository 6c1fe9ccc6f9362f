extension ProtobufCodec {
    /// The codec for `google.protobuf.Duration`, which is `Duration` in Swift.
    public enum Span: ProtobufMessageCodec {
        /// The value of a missing field: zero.
        public static var initial: Duration { .zero }

        /// Reads seconds and nanoseconds. Seconds beyond 10,000 years, protobuf's limit, are clamped.
        public static func merge(_ fields: ProtobufReader, into value: inout Duration) throws {
            var seconds = value.components.seconds
            var nanos = Int32(value.components.attoseconds / 1_000_000_000)
            try fields.read(0, Number<Int64>.self, into: &seconds)
            try fields.read(1, Number<Int32>.self, into: &nanos)
            // The fields can hold more than 10,000 years, protobuf's limit. Clamping prevents an overflow in later
            // sums.
            value = .seconds(min(max(seconds, -longest), longest)) + .nanoseconds(Int64(nanos))
        }

        /// Writes seconds and nanoseconds, clamped to 10,000 years. Fractions of a nanosecond are dropped.
        public static func fill(_ fields: ProtobufWriter, _ value: Duration) throws {
            let limit = Duration.seconds(longest)
            let components = min(max(value, .zero - limit), limit).components
            try fields.write(0, Number<Int64>.self, components.seconds)
            try fields.write(1, Number<Int32>.self, Int32(components.attoseconds / 1_000_000_000))
        }

        private static var longest: Int64 { 315_576_000_000 }
    }

    /// The codec for `google.protobuf.Value`.
    public enum AnyValue: ProtobufMessageCodec {
        /// The value of a missing field: `null`.
        public static var initial: ProtobufValue { .null }

        /// Reads the one field that is set. If no field is set, the value stays unchanged.
        public static func merge(_ fields: ProtobufReader, into value: inout ProtobufValue) throws {
            switch fields.member(of: 0) {
            case 1: value = .null
            case 2: value = .number(try fields.readMember(of: 0, 1, Number<Double>.self))
            case 3: value = .string(try fields.readMember(of: 0, 2, Text.self))
            case 4: value = .bool(try fields.readMember(of: 0, 3, Flag.self))
            case 5: value = .structure(try fields.readMember(of: 0, 4, Structure.self))
            case 6: value = .list(try fields.readMember(of: 0, 5, List.self))
            default: break
            }
        }

        /// Writes the one field that holds the value.
        public static func fill(_ fields: ProtobufWriter, _ value: ProtobufValue) throws {
            switch value {
            case .null: try fields.writeMember(of: 0, 0, number: 1, Number<Int32>.self, 0)
            case .number(let value): try fields.writeMember(of: 0, 1, number: 2, Number<Double>.self, value)
            case .string(let value): try fields.writeMember(of: 0, 2, number: 3, Text.self, value)
            case .bool(let value): try fields.writeMember(of: 0, 3, number: 4, Flag.self, value)
            case .structure(let value): try fields.writeMember(of: 0, 4, number: 5, Structure.self, value)
            case .list(let value): try fields.writeMember(of: 0, 5, number: 6, List.self, value)
            }
        }
    }

    /// The codec for `google.protobuf.Struct`, which is a dictionary in Swift.
    public enum Structure: ProtobufMessageCodec {
        /// The value of a missing field: empty.
        public static var initial: [String: ProtobufValue] { [:] }

        /// Reads the entries into the dictionary.
        public static func merge(_ fields: ProtobufReader, into value: inout [String: ProtobufValue]) throws {
            try fields.readMap(0, key: Text.self, value: AnyValue.self, into: &value)
        }

        /// Writes the entries of the dictionary.
        public static func fill(_ fields: ProtobufWriter, _ value: [String: ProtobufValue]) throws {
            try fields.writeMap(0, key: Text.self, value: AnyValue.self, value)
        }
    }

    /// The codec for `google.protobuf.ListValue`, which is an array in Swift.
    public enum List: ProtobufMessageCodec {
        /// The value of a missing field: empty.
        public static var initial: [ProtobufValue] { [] }

        /// Reads the elements and appends them to the array.
        public static func merge(_ fields: ProtobufReader, into value: inout [ProtobufValue]) throws {
            try fields.readRepeated(0, AnyValue.self, into: &value)
        }

        /// Writes the elements of the array.
        public static func fill(_ fields: ProtobufWriter, _ value: [ProtobufValue]) throws {
            try fields.writeRepeated(0, AnyValue.self, value)
        }
    }
}
