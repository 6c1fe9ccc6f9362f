extension ProtobufCodec {
    /// The codec for a generated message type.
    public enum Message<Value: GeneratedProtobufMessage>: ProtobufMessageCodec {
        /// The value of a missing field: a message whose fields have their default values.
        @inlinable public static var initial: Value { Value() }

        /// Sets the fields of the value that are present in the received message.
        @inlinable
        public static func merge(_ fields: ProtobufReader, into value: inout Value) throws {
            try value.readProtobuf(fields)
        }

        /// Writes all fields of the message.
        @inlinable
        public static func fill(_ fields: ProtobufWriter, _ value: Value) throws { try value.writeProtobuf(fields) }
    }

    /// The codec for the wrapper messages of `google/protobuf/wrappers.proto`. A wrapper has one field; in Swift, the
    /// wrapper is the value of that field.
    public enum Wrapped<Codec: ProtobufValueCodec>: ProtobufMessageCodec {
        /// The value of a wrapper message whose field is missing.
        @inlinable public static var initial: Codec.Value { Codec.initial }

        /// Reads the only field of the wrapper message into the value.
        @inlinable
        public static func merge(_ fields: ProtobufReader, into value: inout Codec.Value) throws {
            try fields.read(0, Codec.self, into: &value)
        }

        /// Writes the value as the only field of the wrapper message.
        @inlinable
        public static func fill(_ fields: ProtobufWriter, _ value: Codec.Value) throws {
            try fields.write(0, Codec.self, value)
        }
    }
}
