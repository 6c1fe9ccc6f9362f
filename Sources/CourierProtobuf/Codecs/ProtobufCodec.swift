/// The codecs, one for each kind of value; generated code names them.
public enum ProtobufCodec {}
