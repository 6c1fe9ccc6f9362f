extension ProtobufCodec {
    /// A generated message.
    public enum Message<Value: GeneratedProtobufMessage>: ProtobufMessageCodec {
        /// All fields have their defaults.
        @inlinable public static var initial: Value { Value() }

        /// Takes over what is present.
        @inlinable
        public static func merge(_ fields: ProtobufReader, into value: inout Value) throws {
            try value.readProtobuf(fields)
        }

        /// Writes all fields.
        @inlinable
        public static func fill(_ fields: ProtobufWriter, _ value: Value) throws { try value.writeProtobuf(fields) }
    }

    /// One of the wrappers of `google/protobuf/wrappers.proto`: a message with one field, which is the value itself in
    /// Swift.
    public enum Wrapped<Codec: ProtobufValueCodec>: ProtobufMessageCodec {
        /// The value of an empty wrapper.
        @inlinable public static var initial: Codec.Value { Codec.initial }

        /// Takes over the value.
        @inlinable
        public static func merge(_ fields: ProtobufReader, into value: inout Codec.Value) throws {
            try fields.read(0, Codec.self, into: &value)
        }

        /// Writes the value.
        @inlinable
        public static func fill(_ fields: ProtobufWriter, _ value: Codec.Value) throws {
            try fields.write(0, Codec.self, value)
        }
    }
}
