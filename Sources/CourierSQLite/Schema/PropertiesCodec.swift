import CourierCore
import Foundation

/// Encodes message properties as bytes: a version byte, and then the fields. A field is a tag byte and the field's
/// values. The length of a text or of data precedes its bytes.
///
/// Decoding checks every length, because the bytes may come from a damaged file.
enum PropertiesCodec {
    private static let version: UInt8 = 1

    private enum Tag: UInt8 {
        case contentType = 1
        case utf8Payload = 2
        case responseTopic = 3
        case correlationData = 4
        case messageExpiry = 5
        case userProperty = 6
    }

    /// Returns the encoded properties; `nil` if no property is set.
    static func encode(_ properties: MessageProperties) -> [UInt8]? {
        var bytes: [UInt8] = [version]
        if let text = properties.contentType { append(.contentType, text, to: &bytes) }
        if properties.payloadFormat == .utf8 { bytes.append(Tag.utf8Payload.rawValue) }
        if let text = properties.responseTopic { append(.responseTopic, text, to: &bytes) }
        if let data = properties.correlationData {
            bytes.append(Tag.correlationData.rawValue)
            append(data, to: &bytes)
        }
        if let expiry = properties.messageExpiry {
            bytes.append(Tag.messageExpiry.rawValue)
            append(UInt64(bitPattern: expiry.components.seconds), to: &bytes)
            append(UInt64(bitPattern: expiry.components.attoseconds), to: &bytes)
        }
        for property in properties.userProperties {
            append(.userProperty, property.name, to: &bytes)
            append(property.value.utf8, to: &bytes)
        }
        return bytes.count == 1 ? nil : bytes
    }

    /// Returns the decoded properties; `nil` if ``encode(_:)`` cannot have made the bytes.
    static func decode(_ bytes: [UInt8]) -> MessageProperties? {
        var reader = Reader(bytes: bytes[...])
        guard reader.byte() == version else { return nil }
        var properties = MessageProperties()
        while let number = reader.byte() {
            guard let tag = Tag(rawValue: number), read(tag, from: &reader, into: &properties) else { return nil }
        }
        return properties
    }

    private static func read(_ tag: Tag, from reader: inout Reader, into properties: inout MessageProperties) -> Bool {
        switch tag {
        case .contentType:
            guard let text = reader.text() else { return false }
            properties.contentType = text
        case .utf8Payload: properties.payloadFormat = .utf8
        case .responseTopic:
            guard let text = reader.text() else { return false }
            properties.responseTopic = text
        case .correlationData:
            guard let data = reader.run() else { return false }
            properties.correlationData = Data(data)
        case .messageExpiry:
            guard let seconds = reader.number(), let attoseconds = reader.number() else { return false }
            let parts = (Int64(bitPattern: seconds), Int64(bitPattern: attoseconds))
            // Refuse values near the limits of `Duration`, so that later additions do not overflow.
            guard abs(parts.0 >> 1) < 1 << 60, parts.1 > -1_000_000_000_000_000_000,
                parts.1 < 1_000_000_000_000_000_000
            else { return false }
            properties.messageExpiry = Duration(secondsComponent: parts.0, attosecondsComponent: parts.1)
        case .userProperty:
            guard let name = reader.text(), let value = reader.text() else { return false }
            properties.userProperties.append(.init(name, value))
        }
        return true
    }

    private static func append(_ tag: Tag, _ text: String, to bytes: inout [UInt8]) {
        bytes.append(tag.rawValue)
        append(text.utf8, to: &bytes)
    }

    private static func append(_ run: some Collection<UInt8>, to bytes: inout [UInt8]) {
        let count = UInt32(clamping: run.count)
        for shift in stride(from: 24, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: count >> shift)) }
        bytes += run
    }

    private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    /// Reads values from the bytes. Never reads beyond the last byte.
    private struct Reader {
        var bytes: ArraySlice<UInt8>

        mutating func byte() -> UInt8? { bytes.popFirst() }

        mutating func number(bytes count: Int = 8) -> UInt64? {
            guard bytes.count >= count else { return nil }
            defer { bytes.removeFirst(count) }
            return bytes.prefix(count).reduce(0) { $0 << 8 | UInt64($1) }
        }

        mutating func run() -> ArraySlice<UInt8>? {
            guard let count = number(bytes: 4).map({ Int($0) }), count <= bytes.count else { return nil }
            defer { bytes.removeFirst(count) }
            return bytes.prefix(count)
        }

        mutating func text() -> String? { run().flatMap { String(validating: $0, as: UTF8.self) } }
    }
}
