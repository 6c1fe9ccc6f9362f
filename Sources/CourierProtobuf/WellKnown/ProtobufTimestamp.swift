public import Foundation

/// `google.protobuf.Timestamp`: a point in time with nanoseconds.
///
/// The type is separate from `Date`, because `Date` stores a `Double`. A `Double` would round the last digits of a time
/// that the app only passes on.
public struct ProtobufTimestamp: GeneratedProtobufMessage, Comparable {
    /// Seconds since 1970-01-01T00:00:00Z; negative for earlier times.
    public var seconds: Int64
    /// Nanoseconds after ``seconds``, 0 to 999,999,999.
    public var nanos: Int32
    /// Received fields that are not in the schema, such as fields of a newer version of the type.
    public var unknownFields = ProtobufUnknownFields()

    /// Creates a point in time from seconds and nanoseconds.
    ///
    /// - Parameters:
    ///   - seconds: Seconds since 1970-01-01T00:00:00Z.
    ///   - nanos: Nanoseconds after `seconds`, 0 to 999,999,999.
    public init(seconds: Int64 = 0, nanos: Int32 = 0) {
        self.seconds = seconds
        self.nanos = nanos
    }

    /// Creates the time 1970-01-01T00:00:00Z.
    public init() { self.init(seconds: 0) }

    /// Creates a point in time from a `Date`, with the precision of `Date`, about a ten-millionth of a second.
    ///
    /// A date outside the years 1 to 9999 becomes the nearest time inside them. A date that is not a number (NaN)
    /// becomes 1970-01-01T00:00:00Z.
    ///
    /// - Parameter date: The point in time.
    public init(_ date: Date) {
        let given = date.timeIntervalSince1970
        let time = given.isNaN ? 0 : min(max(given, -62_135_596_800), 253_402_300_799)
        let seconds = time.rounded(.down)
        self.init(seconds: Int64(seconds), nanos: Int32(min((time - seconds) * 1_000_000_000, 999_999_999)))
    }

    /// The same time as a `Date`, rounded to the precision of `Date`.
    public var date: Date { Date(timeIntervalSince1970: Double(seconds) + Double(nanos) / 1_000_000_000) }

    /// Returns whether the first time is earlier than the second.
    public static func < (one: Self, other: Self) -> Bool {
        (one.seconds, one.nanos) < (other.seconds, other.nanos)
    }

    /// The name and the fields of this message type.
    public static let protobufSchema: ProtobufSchema = .init(
        "google.protobuf.Timestamp", [.init(1, "seconds", .int64), .init(2, "nanos", .int32)])

    /// Sets the properties from the fields that the reader has.
    ///
    /// - Parameter fields: The reader with the received fields.
    /// - Throws: No error. The protocol declares the function as throwing.
    public mutating func readProtobuf(_ fields: ProtobufReader) throws {
        try fields.read(0, ProtobufCodec.Number<Int64>.self, into: &seconds)
        try fields.read(1, ProtobufCodec.Number<Int32>.self, into: &nanos)
        fields.readUnknown(into: &unknownFields)
    }

    /// Writes the fields to a writer.
    ///
    /// - Parameter fields: The writer that receives the fields.
    /// - Throws: ``CourierCore/CourierError`` if the memory limit is reached.
    public func writeProtobuf(_ fields: ProtobufWriter) throws {
        try fields.write(0, ProtobufCodec.Number<Int64>.self, seconds)
        try fields.write(1, ProtobufCodec.Number<Int32>.self, nanos)
        try fields.writeUnknown(unknownFields)
    }
}
