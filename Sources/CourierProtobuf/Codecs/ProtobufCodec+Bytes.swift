extension ProtobufCodec {
    /// `string`. It is UTF-8 on the wire, and anything else is refused, in proto2 as well.
    public enum Text: ProtobufMapKeyCodec {
        /// Empty.
        @inlinable public static var initial: String { "" }
        /// 16: a length and an address.
        @inlinable public static var stride: Int { 16 }
        /// Whether it is empty.
        @inlinable
        public static func isZero(_ value: String) -> Bool { value.isEmpty }
        /// By UTF-8.
        @inlinable
        public static func precedes(_ one: String, _ other: String) -> Bool {
            one.utf8.lexicographicallyPrecedes(other.utf8)
        }
        /// Whether the same letters are there in other bytes, such as an é that is e and an accent.
        @inlinable
        public static func isTaken<Content>(_ key: String, in entries: [String: Content]) -> Bool {
            guard let place = entries.index(forKey: key) else { return false }
            return !entries.keys[place].utf8.elementsEqual(key.utf8)
        }

        /// Reads a text at its place.
        @inlinable
        public static func load(
            _ place: UnsafeRawPointer, _ fields: ProtobufReader, _ field: Int
        ) throws -> String {
            let bytes = Bytes.buffer(place)
            if bytes.isEmpty { return "" }
            guard let text = String(validating: bytes, as: UTF8.self) else { throw fields.invalidText(field) }
            return text
        }

        /// Puts a text at its place.
        @inlinable
        public static func store(
            _ value: String, at place: UnsafeMutableRawPointer, _ fields: ProtobufWriter, _ field: Int
        ) throws {
            let utf8 = value.utf8
            let stored: Void? = try utf8.withContiguousStorageIfAvailable { bytes in
                try Bytes.store(UnsafeRawBufferPointer(bytes), at: place, fields)
            }
            if stored == nil { try Bytes.store(Array(utf8), at: place, fields, field) }
        }
    }

    /// `bytes`.
    public enum Bytes: ProtobufValueCodec {
        /// Empty.
        @inlinable public static var initial: [UInt8] { [] }
        /// 16: a length and an address.
        @inlinable public static var stride: Int { 16 }
        /// Whether there are none.
        @inlinable
        public static func isZero(_ value: [UInt8]) -> Bool { value.isEmpty }

        /// Reads bytes at their place.
        @inlinable
        public static func load(_ place: UnsafeRawPointer, _ fields: ProtobufReader, _ field: Int) -> [UInt8] {
            Array(buffer(place))
        }

        /// Puts bytes at their place.
        @inlinable
        public static func store(
            _ value: [UInt8], at place: UnsafeMutableRawPointer, _ fields: ProtobufWriter, _ field: Int
        ) throws { try value.withUnsafeBytes { try store($0, at: place, fields) } }

        @inlinable
        static func buffer(_ place: UnsafeRawPointer) -> UnsafeBufferPointer<UInt8> {
            UnsafeBufferPointer(
                start: place.load(fromByteOffset: 8, as: UnsafePointer<UInt8>?.self), count: place.load(as: Int.self))
        }

        @inlinable
        static func store(
            _ bytes: UnsafeRawBufferPointer, at place: UnsafeMutableRawPointer, _ fields: ProtobufWriter
        ) throws {
            place.storeBytes(of: bytes.count, as: Int.self)
            guard !bytes.isEmpty else { return }  // The address stays nil.
            let copy = try fields.allocate(bytes.count)
            UnsafeMutableRawBufferPointer(start: copy, count: bytes.count).copyMemory(from: bytes)
            place.storeBytes(of: copy, toByteOffset: 8, as: UnsafeMutableRawPointer.self)
        }
    }
}
