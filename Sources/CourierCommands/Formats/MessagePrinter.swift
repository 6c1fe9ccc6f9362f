import CourierCore
import Foundation

/// Formats received messages for the output, according to the command-line options.
package struct MessagePrinter: Sendable {
    /// The output for one message.
    package struct Printed: Hashable, Sendable {
        /// The bytes for the standard output.
        package var bytes: [UInt8] = []
        /// Error messages about fields that cannot be printed, one line each.
        package var complaints: [String] = []
    }

    /// The format of the `-F` option. If it is `nil`, only the payload is written.
    package var format: MessageFormat?
    /// True if the topic is written before the payload. Ignored if there is a format.
    package var isVerbose = false
    /// True if a newline is written after each message.
    package var endsLines = true
    /// True if JSON is written over several lines.
    package var isPretty = false
    /// True if a payload that is not valid JSON is written as a JSON string. If false, such a payload is an error where
    /// the format requires JSON.
    package var takesAnyPayload = false
    /// True if the topic is written in color. Ignored if there is a format.
    package var hasColours = false

    package init() {}

    /// Returns the output for a message. Without a format and without the topic, an empty payload has no output.
    package func print(_ message: PrintedMessage) -> Printed {
        var printed = Printed()
        if let format {
            for part in format.parts { write(part, message, &printed) }
            if endsLines { printed.bytes.append(0x0A) }
        } else if isVerbose {
            let topic = hasColours ? "\u{1B}[36m\(message.topic)\u{1B}[0m" : message.topic
            if !message.payload.isEmpty {
                printed.bytes = Array("\(topic) ".utf8) + message.payload
                if endsLines { printed.bytes.append(0x0A) }
            } else if endsLines {
                printed.bytes = Array("\(topic) (null)\n".utf8)
            }
        } else if !message.payload.isEmpty {
            printed.bytes = message.payload
            if endsLines { printed.bytes.append(0x0A) }
        }
        return printed
    }

    private func write(_ part: MessageFormat.Part, _ message: PrintedMessage, _ printed: inout Printed) {
        switch part {
        case .text(let bytes): printed.bytes += bytes
        case .time(UInt8(ascii: "N")):
            printed.bytes += WallTime.padded(message.time.nanoseconds, to: 9).utf8
        case .time(let letter):
            printed.bytes += message.time.text("%\(Character(Unicode.Scalar(letter)))").utf8
        case .field(let letter, let field): write(letter, field, message, &printed)
        }
    }

    private func write(
        _ letter: UInt8, _ field: MessageFormat.Field, _ message: PrintedMessage, _ printed: inout Printed
    ) {
        let properties = message.properties
        switch letter {
        case UInt8(ascii: "t"): Self.write(text: message.topic, field, &printed.bytes)
        case UInt8(ascii: "p"): Self.write(payload: message.payload, field, &printed.bytes)
        case UInt8(ascii: "x"): Self.write(digitsOf: message.payload, "0123456789abcdef", field, &printed.bytes)
        case UInt8(ascii: "X"): Self.write(digitsOf: message.payload, "0123456789ABCDEF", field, &printed.bytes)
        case UInt8(ascii: "l"): Self.write(number: message.payload.count, field, &printed.bytes)
        case UInt8(ascii: "m"): Self.write(number: message.packetID, field, &printed.bytes)
        case UInt8(ascii: "q"): printed.bytes += String(message.qos).utf8
        case UInt8(ascii: "r"): printed.bytes.append(UInt8(ascii: message.isRetained ? "1" : "0"))
        case UInt8(ascii: "j"): write(json: message, isParsed: false, &printed)
        case UInt8(ascii: "J"): write(json: message, isParsed: true, &printed)
        case UInt8(ascii: "I"): Self.write(text: message.time.text("%FT%T%z"), field, &printed.bytes)
        case UInt8(ascii: "U"):
            let nanoseconds = WallTime.padded(message.time.nanoseconds, to: 9)
            printed.bytes += "\(message.time.seconds).\(nanoseconds)".utf8
        case UInt8(ascii: "f"):
            write(
                float: message.payload.count == 4 ? Double(Float(bitPattern: Self.bits(message.payload))) : nil,
                "requested float printing, but non-float data received", field, &printed)
        case UInt8(ascii: "d"):
            write(
                float: message.payload.count == 8 ? Double(bitPattern: Self.bits(message.payload)) : nil,
                "requested double printing, but non-double data received", field, &printed)
        case UInt8(ascii: "C"):
            if let type = properties.contentType {
                Self.write(text: type, field, &printed.bytes)
            } else {
                Self.write(blank: field, &printed.bytes)
            }
        case UInt8(ascii: "D"): printed.bytes += properties.correlationData ?? Data()
        case UInt8(ascii: "E"):
            if let expiry = properties.messageExpiry {
                Self.write(number: Int(expiry.components.seconds), field, &printed.bytes)
            } else {
                Self.write(blank: field, &printed.bytes)
            }
        case UInt8(ascii: "F"):
            if properties.payloadFormat == .utf8 {
                Self.write(number: 1, field, &printed.bytes)
            } else {
                Self.write(blank: field, &printed.bytes)
            }
        case UInt8(ascii: "P"):
            let pairs = properties.userProperties.map { "\($0.name):\($0.value)" }
            printed.bytes += pairs.joined(separator: " ").utf8
        case UInt8(ascii: "R"):
            if let topic = properties.responseTopic { Self.write(text: topic, field, &printed.bytes) }
        case UInt8(ascii: "S"):
            if let identifier = properties.subscriptionIdentifiers.first {
                Self.write(number: Int(identifier), field, &printed.bytes)
            } else {
                Self.write(blank: field, &printed.bytes)
            }
        // `%A` is always blank: the client replaces topic aliases by topics before a message is printed.
        case UInt8(ascii: "A"): Self.write(blank: field, &printed.bytes)
        default: break  // A format has only the letters above.
        }
    }

    // MARK: Fields

    private static func write(blank field: MessageFormat.Field, _ bytes: inout [UInt8]) {
        bytes += repeatElement(field.pad, count: field.width)
    }

    private static func write(text: String, _ field: MessageFormat.Field, _ bytes: inout [UInt8]) {
        let text = field.precision < 0 ? Array(text.utf8) : Array(text.utf8.prefix(field.precision))
        let padding = repeatElement(UInt8(ascii: " "), count: max(0, field.width - text.count))
        bytes += field.isLeft ? text + padding : padding + text
    }

    private static func write(number: Int, _ field: MessageFormat.Field, _ bytes: inout [UInt8]) {
        let text = Array(String(number).utf8)
        let count = max(0, field.width - text.count)
        if field.isLeft {
            bytes += text + repeatElement(UInt8(ascii: " "), count: count)
        } else {
            bytes += repeatElement(field.pad, count: count) + text
        }
    }

    /// Writes the payload, cut to the width of the field.
    ///
    /// If a left-aligned field has no width, the function adds one space for each byte of the payload. mosquitto_sub
    /// adds the same spaces.
    private static func write(payload: [UInt8], _ field: MessageFormat.Field, _ bytes: inout [UInt8]) {
        let shown = field.width > 0 ? payload.prefix(field.width) : payload[...]
        let padding = field.width - shown.count
        if !field.isLeft, padding > 0 { bytes += repeatElement(field.pad, count: padding) }
        bytes += shown
        if field.isLeft { bytes += repeatElement(UInt8(ascii: " "), count: abs(padding)) }
    }

    /// Writes the payload as hexadecimal digits, with the separator after each group of `precision` digits. The width
    /// of the field is the maximum number of bytes that are written.
    private static func write(
        digitsOf payload: [UInt8], _ digits: String, _ field: MessageFormat.Field, _ bytes: inout [UInt8]
    ) {
        let digits = Array(digits.utf8)
        let shown = field.width > 0 ? payload.prefix(field.width) : payload[...]
        let padding = field.width > 0 ? field.width - shown.count * 2 : -shown.count
        var place = 0
        func separate() {
            if field.precision > 0, place % field.precision == field.precision - 1 { bytes.append(field.separator) }
        }
        if !field.isLeft, padding > 0 {
            for _ in 0..<padding {
                bytes.append(field.pad)
                separate()
                place += 1
            }
        }
        for (index, byte) in shown.enumerated() {
            bytes.append(digits[Int(byte >> 4)])
            separate()
            place += 1
            bytes.append(digits[Int(byte & 15)])
            if index < shown.count - 1 {
                separate()
                place += 1
            }
        }
        if field.isLeft { bytes += repeatElement(UInt8(ascii: " "), count: abs(padding)) }
    }

    /// Returns the integer that the bytes represent in the byte order of this machine.
    private static func bits<Number: FixedWidthInteger>(_ bytes: [UInt8]) -> Number {
        bytes.withUnsafeBytes { $0.loadUnaligned(as: Number.self) }
    }

    private func write(
        float value: Double?, _ complaint: String, _ field: MessageFormat.Field, _ printed: inout Printed
    ) {
        guard let value else { return printed.complaints.append(complaint) }
        let places = field.precision < 0 ? 6 : field.precision
        let text: String
        if field.width == 0 {
            text = String(format: "%.*f", places, value)
        } else if field.isLeft {
            text = String(format: "%-*.*f", field.width, places, value)
        } else if field.pad == UInt8(ascii: "0") {
            text = String(format: "%0*.*f", field.width, places, value)
        } else {
            text = String(format: "%*.*f", field.width, places, value)
        }
        printed.bytes += text.utf8
    }

    private func write(json message: PrintedMessage, isParsed: Bool, _ printed: inout Printed) {
        let payload: JSONValue
        if message.payload.isEmpty {
            payload = .null
        } else if !isParsed {
            payload = .string(message.payload)
        } else if takesAnyPayload {
            payload = Self.any(message.payload)
        } else if let parsed = JSONValue(parsing: message.payload) {
            payload = parsed
        } else {
            return printed.complaints.append(
                "Error: Message payload is not valid JSON on topic \(message.topic).")
        }
        JSONValue(message, payload: payload, isAlwaysText: takesAnyPayload)
            .write(isPretty: isPretty, into: &printed.bytes)
    }

    /// Returns the payload as JSON if it is valid JSON, as a string if it is other valid UTF-8, or otherwise as Base64.
    private static func any(_ payload: [UInt8]) -> JSONValue {
        let isText = String(validating: payload, as: UTF8.self) != nil
        if isText, let parsed = JSONValue(parsing: payload, keepsNumbers: true) { return parsed }
        return JSONValue.text(payload)
    }
}

extension JSONValue {
    /// Returns the bytes as a JSON string: unchanged if they are valid UTF-8, or otherwise in Base64.
    fileprivate static func text(_ bytes: [UInt8]) -> JSONValue {
        String(validating: bytes, as: UTF8.self) != nil
            ? .string(bytes) : .string(Array(Data(bytes).base64EncodedString().utf8))
    }

    /// Creates the JSON object that `%j` and `%J` print. If `isAlwaysText` is true, correlation data that is not valid
    /// UTF-8 is written in Base64. If it is false, strings may contain bytes that are not valid UTF-8.
    init(_ message: PrintedMessage, payload: JSONValue, isAlwaysText: Bool) {
        var members: [(key: [UInt8], value: JSONValue)] = [
            (Array("tst".utf8), .string(Array(message.time.timestamp.utf8))),
            (Array("topic".utf8), .string(Array(message.topic.utf8))),
            (Array("qos".utf8), .number("\(message.qos)")),
            (Array("retain".utf8), .bool(message.isRetained)),
            (Array("payloadlen".utf8), .number("\(message.payload.count)")),
        ]
        if message.qos > 0 { members.append((Array("mid".utf8), .number("\(message.packetID)"))) }
        if let properties = JSONValue(message.properties, isAlwaysText: isAlwaysText) {
            members.append((Array("properties".utf8), properties))
        }
        members.append((Array("payload".utf8), payload))
        self = .object(members.map { Member(key: $0.key, value: $0.value) })
    }

    /// Creates the JSON object for the properties of a message, or `nil` if the message has no properties.
    private init?(_ properties: MessageProperties, isAlwaysText: Bool) {
        var members: [Member] = []
        func add(_ key: String, _ value: JSONValue) { members.append(Member(key: Array(key.utf8), value: value)) }
        if properties.payloadFormat == .utf8 { add("payload-format-indicator", .number("1")) }
        if let expiry = properties.messageExpiry {
            add("message-expiry-interval", .number("\(expiry.components.seconds)"))
        }
        if let type = properties.contentType { add("content-type", .string(Array(type.utf8))) }
        if let topic = properties.responseTopic { add("response-topic", .string(Array(topic.utf8))) }
        if let data = properties.correlationData {
            add("correlation-data", isAlwaysText ? .text([UInt8](data)) : .string([UInt8](data)))
        }
        for identifier in properties.subscriptionIdentifiers {
            add("subscription-identifier", .number("\(identifier)"))
        }
        if !properties.userProperties.isEmpty {
            add(
                "user-properties",
                .array(
                    properties.userProperties.map {
                        .object([Member(key: Array($0.name.utf8), value: .string(Array($0.value.utf8)))])
                    }))
        }
        if members.isEmpty { return nil }
        self = .object(members)
    }
}
