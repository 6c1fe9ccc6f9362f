public import Foundation

/// A point in time with nanoseconds, `google.protobuf.Timestamp`.
///
/// It is a type of its own since `Date`, a `Double`, would change the last digits of a time that is only passed on.
public struct ProtobufTimestamp: GeneratedProtobufMessage, Comparable {
    /// Seconds since 1970-01-01T00:00:00Z; before it they are negative.
    public var seconds: Int64
    /// Nanoseconds after ``seconds``, 0 to 999,999,999.
    public var nanos: Int32
    /// What newer versions of the type may add.
    public var unknownFields = ProtobufUnknownFields()

    /// Makes a point in time.
    ///
    /// - Parameters:
    ///   - seconds: Seconds since 1970-01-01T00:00:00Z.
    ///   - nanos: Nanoseconds after them, 0 to 999,999,999.
    public init(seconds: Int64 = 0, nanos: Int32 = 0) {
        self.seconds = seconds
        self.nanos = nanos
    }

    /// Makes 1970-01-01T00:00:00Z.
    public init() { self.init(seconds: 0) }

    /// Makes a point in time as exact as `Date` is, about a ten-millionth of a second. What lies outside the years
    /// 1 to 9999 becomes the nearest time inside; a date that is not a number is no nearer to one than to another, and
    /// becomes 1970-01-01T00:00:00Z.
    ///
    /// - Parameter date: The point in time.
    public init(_ date: Date) {
        let given = date.timeIntervalSince1970
        let time = given.isNaN ? 0 : min(max(given, -62_135_596_800), 253_402_300_799)
        let seconds = time.rounded(.down)
        self.init(seconds: Int64(seconds), nanos: Int32(min((time - seconds) * 1_000_000_000, 999_999_999)))
    }

    /// The same time as exact as `Date` is.
    public var date: Date { Date(timeIntervalSince1970: Double(seconds) + Double(nanos) / 1_000_000_000) }

    /// Whether one time comes before another.
    public static func < (one: Self, other: Self) -> Bool {
        (one.seconds, one.nanos) < (other.seconds, other.nanos)
    }

    /// The fields.
    public static let protobufSchema: ProtobufSchema = .init(
        "google.protobuf.Timestamp", [.init(1, "seconds", .int64), .init(2, "nanos", .int32)])

    /// Takes over the fields that are present.
    ///
    /// - Parameter fields: The fields.
    /// - Throws: ``CourierCore/CourierError`` when a text is not UTF-8.
    public mutating func readProtobuf(_ fields: ProtobufReader) throws {
        try fields.read(0, ProtobufCodec.Number<Int64>.self, into: &seconds)
        try fields.read(1, ProtobufCodec.Number<Int32>.self, into: &nanos)
        fields.readUnknown(into: &unknownFields)
    }

    /// Hands over the fields.
    ///
    /// - Parameter fields: Takes them.
    /// - Throws: ``CourierCore/CourierError`` when there is no memory left.
    public func writeProtobuf(_ fields: ProtobufWriter) throws {
        try fields.write(0, ProtobufCodec.Number<Int64>.self, seconds)
        try fields.write(1, ProtobufCodec.Number<Int32>.self, nanos)
        try fields.writeUnknown(unknownFields)
    }
}
