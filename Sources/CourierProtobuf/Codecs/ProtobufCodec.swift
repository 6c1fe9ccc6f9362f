/// The namespace of the codecs. There is one codec for each kind of value, and generated code names the codec of each
/// field.
public enum ProtobufCodec {}
