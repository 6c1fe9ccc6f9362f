extension ProtobufCodec {
    /// The codec for `string`. A string must be UTF-8 on the wire; other bytes are refused, also in proto2.
    public enum Text: ProtobufMapKeyCodec {
        /// The value of a missing field: empty.
        @inlinable public static var initial: String { "" }
        /// The size of one element in a list: 16 bytes, for a length and an address.
        @inlinable public static var stride: Int { 16 }
        /// True if the string is empty, so that its field can be left out.
        @inlinable
        public static func isZero(_ value: String) -> Bool { value.isEmpty }
        /// Compares the UTF-8 bytes of two map keys.
        @inlinable
        public static func precedes(_ one: String, _ other: String) -> Bool {
            one.utf8.lexicographicallyPrecedes(other.utf8)
        }
        /// True if the dictionary has an equal key with other UTF-8 bytes. For example, `é` can be one character or `e`
        /// with a combining accent.
        @inlinable
        public static func isTaken<Content>(_ key: String, in entries: [String: Content]) -> Bool {
            guard let place = entries.index(forKey: key) else { return false }
            return !entries.keys[place].utf8.elementsEqual(key.utf8)
        }

        /// Reads a string from its memory in a C struct.
        @inlinable
        public static func load(
            _ place: UnsafeRawPointer, _ fields: ProtobufReader, _ field: Int
        ) throws -> String {
            let bytes = Bytes.buffer(place)
            if bytes.isEmpty { return "" }
            guard let text = String(validating: bytes, as: UTF8.self) else { throw fields.invalidText(field) }
            return text
        }

        /// Writes a string to its memory in a C struct.
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

    /// The codec for `bytes`.
    public enum Bytes: ProtobufValueCodec {
        /// The value of a missing field: empty.
        @inlinable public static var initial: [UInt8] { [] }
        /// The size of one element in a list: 16 bytes, for a length and an address.
        @inlinable public static var stride: Int { 16 }
        /// True if there are no bytes, so that the field can be left out.
        @inlinable
        public static func isZero(_ value: [UInt8]) -> Bool { value.isEmpty }

        /// Reads bytes from their memory in a C struct.
        @inlinable
        public static func load(_ place: UnsafeRawPointer, _ fields: ProtobufReader, _ field: Int) -> [UInt8] {
            Array(buffer(place))
        }

        /// Writes bytes to their memory in a C struct.
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
            guard !bytes.isEmpty else { return }  // For an empty value, the stored address remains nil.
            let copy = try fields.allocate(bytes.count)
            UnsafeMutableRawBufferPointer(start: copy, count: bytes.count).copyMemory(from: bytes)
            place.storeBytes(of: copy, toByteOffset: 8, as: UnsafeMutableRawPointer.self)
        }
    }
}
