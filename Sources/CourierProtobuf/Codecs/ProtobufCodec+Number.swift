/// A number that lies in Swift's memory as it does in C's: all of protobuf's but `bool`.
public protocol ProtobufNumber: BitwiseCopyable, Comparable, Hashable, Sendable {
    /// Zero.
    init()

    /// Whether every bit is zero; the negative zero of a floating-point type has one that is not, and is sent.
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
    /// Whether it is zero and positive.
    @inlinable public var isAllZeroBits: Bool { bitPattern == 0 }
}

extension Double: ProtobufNumber {
    /// Whether it is zero and positive.
    @inlinable public var isAllZeroBits: Bool { bitPattern == 0 }
}

extension ProtobufCodec {
    /// The integers in all their wire forms, `float` and `double`.
    public enum Number<Value: ProtobufNumber>: ProtobufMapKeyCodec {
        /// Zero.
        @inlinable public static var initial: Value { Value() }
        /// 4 or 8.
        @inlinable public static var stride: Int { MemoryLayout<Value>.stride }
        /// Whether all bits are zero.
        @inlinable
        public static func isZero(_ value: Value) -> Bool { value.isAllZeroBits }
        /// By value.
        @inlinable
        public static func precedes(_ one: Value, _ other: Value) -> Bool { one < other }

        /// Reads a number at its place.
        @inlinable
        public static func load(_ place: UnsafeRawPointer, _ fields: ProtobufReader, _ field: Int) -> Value {
            place.load(as: Value.self)
        }

        /// Appends all numbers at once.
        @inlinable
        public static func loadList(
            _ list: UnsafeRawPointer, count: Int, into values: inout [Value], _ fields: ProtobufReader, _ field: Int
        ) {
            let numbers = UnsafeBufferPointer(start: list.assumingMemoryBound(to: Value.self), count: count)
            if values.isEmpty { values = Array(numbers) } else { values.append(contentsOf: numbers) }
        }

        /// Puts a number at its place.
        @inlinable
        public static func store(
            _ value: Value, at place: UnsafeMutableRawPointer, _ fields: ProtobufWriter, _ field: Int
        ) { place.storeBytes(of: value, as: Value.self) }

        /// Puts all numbers at once.
        @inlinable
        public static func storeList(
            _ values: [Value], at list: UnsafeMutableRawPointer, _ fields: ProtobufWriter, _ field: Int
        ) {
            values.withUnsafeBytes { bytes in
                UnsafeMutableRawBufferPointer(start: list, count: bytes.count).copyMemory(from: bytes)
            }
        }
    }

    /// `bool`, which is an `int` in C.
    public enum Flag: ProtobufMapKeyCodec {
        /// `false`.
        @inlinable public static var initial: Bool { false }
        /// 4.
        @inlinable public static var stride: Int { 4 }
        /// Whether it is `false`.
        @inlinable
        public static func isZero(_ value: Bool) -> Bool { !value }
        /// `false` comes first.
        @inlinable
        public static func precedes(_ one: Bool, _ other: Bool) -> Bool { !one && other }

        /// Reads a flag at its place.
        @inlinable
        public static func load(_ place: UnsafeRawPointer, _ fields: ProtobufReader, _ field: Int) -> Bool {
            place.load(as: Int32.self) != 0
        }

        /// Puts a flag at its place.
        @inlinable
        public static func store(
            _ value: Bool, at place: UnsafeMutableRawPointer, _ fields: ProtobufWriter, _ field: Int
        ) { place.storeBytes(of: value ? 1 : 0, as: Int32.self) }
    }

    /// An enumeration.
    public enum Enumeration<Value: ProtobufEnum>: ProtobufValueCodec {
        /// The value that the `.proto` file names first.
        @inlinable public static var initial: Value { Value() }
        /// 4.
        @inlinable public static var stride: Int { 4 }
        /// Whether its number is zero.
        @inlinable
        public static func isZero(_ value: Value) -> Bool { value.rawValue == 0 }

        /// Reads a value at its place.
        @inlinable
        public static func load(_ place: UnsafeRawPointer, _ fields: ProtobufReader, _ field: Int) -> Value {
            Value(rawValue: place.load(as: Int32.self))
        }

        /// Puts a value at its place.
        @inlinable
        public static func store(
            _ value: Value, at place: UnsafeMutableRawPointer, _ fields: ProtobufWriter, _ field: Int
        ) { place.storeBytes(of: value.rawValue, as: Int32.self) }
    }
}
