extension ProtobufCodec {
    /// `google.protobuf.Duration`, which is `Duration` in Swift.
    public enum Span: ProtobufMessageCodec {
        /// No time.
        public static var initial: Duration { .zero }

        /// Takes over what is present; what does not fit becomes the nearest length that does.
        public static func merge(_ fields: ProtobufReader, into value: inout Duration) throws {
            var seconds = value.components.seconds
            var nanos = Int32(value.components.attoseconds / 1_000_000_000)
            try fields.read(0, Number<Int64>.self, into: &seconds)
            try fields.read(1, Number<Int32>.self, into: &nanos)
            // What two numbers can say beyond protobuf's 10,000 years is cut, so that no later sum overflows.
            value = .seconds(min(max(seconds, -longest), longest)) + .nanoseconds(Int64(nanos))
        }

        /// Writes seconds and nanoseconds; what is shorter than a nanosecond is left out.
        public static func fill(_ fields: ProtobufWriter, _ value: Duration) throws {
            let limit = Duration.seconds(longest)
            let components = min(max(value, .zero - limit), limit).components
            try fields.write(0, Number<Int64>.self, components.seconds)
            try fields.write(1, Number<Int32>.self, Int32(components.attoseconds / 1_000_000_000))
        }

        private static var longest: Int64 { 315_576_000_000 }
    }

    /// `google.protobuf.Value`.
    public enum AnyValue: ProtobufMessageCodec {
        /// `null`.
        public static var initial: ProtobufValue { .null }

        /// Takes over the value if there is one.
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

        /// Writes the value.
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

    /// `google.protobuf.Struct`.
    public enum Structure: ProtobufMessageCodec {
        /// Empty.
        public static var initial: [String: ProtobufValue] { [:] }

        /// Takes over the entries.
        public static func merge(_ fields: ProtobufReader, into value: inout [String: ProtobufValue]) throws {
            try fields.readMap(0, key: Text.self, value: AnyValue.self, into: &value)
        }

        /// Writes the entries.
        public static func fill(_ fields: ProtobufWriter, _ value: [String: ProtobufValue]) throws {
            try fields.writeMap(0, key: Text.self, value: AnyValue.self, value)
        }
    }

    /// `google.protobuf.ListValue`.
    public enum List: ProtobufMessageCodec {
        /// Empty.
        public static var initial: [ProtobufValue] { [] }

        /// Takes over the elements.
        public static func merge(_ fields: ProtobufReader, into value: inout [ProtobufValue]) throws {
            try fields.readRepeated(0, AnyValue.self, into: &value)
        }

        /// Writes the elements.
        public static func fill(_ fields: ProtobufWriter, _ value: [ProtobufValue]) throws {
            try fields.writeRepeated(0, AnyValue.self, value)
        }
    }
}
