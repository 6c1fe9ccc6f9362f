/// A number that has the same memory layout in Swift and in C: every protobuf number type except `bool`.
public protocol ProtobufNumber: BitwiseCopyable, Comparable, Hashable, Sendable {
    /// The value of a missing field: zero.
    init()

    /// True if all bits are zero. A floating-point −0 has its sign bit set, so it is sent although it equals 0.
    var isAllZeroBits: Bool { get }
}

extension ProtobufNumber where Self: FixedWidthInteger {
    /// Whether the number is zero.
    @inlinable public var isAllZeroBits: Bool { self == 0 }
}

extension Int32: ProtobufNumber {}
extension Int64: ProtobufNumber {}
extension UInt32: ProtobufNumber {}
extension UInt64: ProtobufNumber {}

extension Float: ProtobufNumber {
    /// True for +0, false for −0.
    @inlinable public var isAllZeroBits: Bool { bitPattern == 0 }
}

extension Double: ProtobufNumber {
    /// True for +0, false for −0.
    @inlinable public var isAllZeroBits: Bool { bitPattern == 0 }
}

extension ProtobufCodec {
    /// The codec for all integer types of protobuf, `float` and `double`.
    public enum Number<Value: ProtobufNumber>: ProtobufMapKeyCodec {
        /// The value of a missing field: zero.
        @inlinable public static var initial: Value { Value() }
        /// The size of one element in a list: 4 or 8 bytes.
        @inlinable public static var stride: Int { MemoryLayout<Value>.stride }
        /// True if all bits are zero, so that the field can be left out.
        @inlinable
        public static func isZero(_ value: Value) -> Bool { value.isAllZeroBits }
        /// Compares two map keys as numbers.
        @inlinable
        public static func precedes(_ one: Value, _ other: Value) -> Bool { one < other }

        /// Reads a number from its memory in a C struct.
        @inlinable
        public static func load(_ place: UnsafeRawPointer, _ fields: ProtobufReader, _ field: Int) -> Value {
            place.load(as: Value.self)
        }

        /// Appends all numbers of a list at once, by copying their memory.
        @inlinable
        public static func loadList(
            _ list: UnsafeRawPointer, count: Int, into values: inout [Value], _ fields: ProtobufReader, _ field: Int
        ) {
            let numbers = UnsafeBufferPointer(start: list.assumingMemoryBound(to: Value.self), count: count)
            if values.isEmpty { values = Array(numbers) } else { values.append(contentsOf: numbers) }
        }

        /// Writes a number to its memory in a C struct.
        @inlinable
        public static func store(
            _ value: Value, at place: UnsafeMutableRawPointer, _ fields: ProtobufWriter, _ field: Int
        ) { place.storeBytes(of: value, as: Value.self) }

        /// Writes all numbers of a list at once, by copying their memory.
        @inlinable
        public static func storeList(
            _ values: [Value], at list: UnsafeMutableRawPointer, _ fields: ProtobufWriter, _ field: Int
        ) {
            values.withUnsafeBytes { bytes in
                UnsafeMutableRawBufferPointer(start: list, count: bytes.count).copyMemory(from: bytes)
            }
        }
    }

    /// The codec for `bool`, which is an `int` in the C structs.
    public enum Flag: ProtobufMapKeyCodec {
        /// The value of a missing field: `false`.
        @inlinable public static var initial: Bool { false }
        /// The size of one element in a list: 4 bytes.
        @inlinable public static var stride: Int { 4 }
        /// Returns whether the value is `false`, the value of a missing field. The encoder can then leave out the field.
        @inlinable
        public static func isZero(_ value: Bool) -> Bool { !value }
        /// Orders the map keys: `false` is before `true`.
        @inlinable
        public static func precedes(_ one: Bool, _ other: Bool) -> Bool { !one && other }

        /// Reads a Boolean from its memory in a C struct.
        @inlinable
        public static func load(_ place: UnsafeRawPointer, _ fields: ProtobufReader, _ field: Int) -> Bool {
            place.load(as: Int32.self) != 0
        }

        /// Writes a Boolean to its memory in a C struct.
        @inlinable
        public static func store(
            _ value: Bool, at place: UnsafeMutableRawPointer, _ fields: ProtobufWriter, _ field: Int
        ) { place.storeBytes(of: value ? 1 : 0, as: Int32.self) }
    }

    /// The codec for an enumeration.
    public enum Enumeration<Value: ProtobufEnum>: ProtobufValueCodec {
        /// The value of a missing field: the first value in the `.proto` file.
        @inlinable public static var initial: Value { Value() }
        /// The size of one element in a list: 4 bytes.
        @inlinable public static var stride: Int { 4 }
        /// True if the number of the value is zero, so that the field can be left out.
        @inlinable
        public static func isZero(_ value: Value) -> Bool { value.rawValue == 0 }

        /// Reads an enumeration value from its memory in a C struct.
        @inlinable
        public static func load(_ place: UnsafeRawPointer, _ fields: ProtobufReader, _ field: Int) -> Value {
            Value(rawValue: place.load(as: Int32.self))
        }

        /// Writes an enumeration value to its memory in a C struct.
        @inlinable
        public static func store(
            _ value: Value, at place: UnsafeMutableRawPointer, _ fields: ProtobufWriter, _ field: Int
        ) { place.storeBytes(of: value.rawValue, as: Int32.self) }
    }
}
