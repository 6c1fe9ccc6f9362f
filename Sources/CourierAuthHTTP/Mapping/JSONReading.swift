import CourierCore
import Foundation

/// Converts a JSON value to a Swift value.
struct JSONReading<Value: Sendable> {
    let kind: String
    let read: (JSONValue) -> Value?

    func value(of field: ResponseField<Value>, in document: JSONValue) throws(ConnectOptionsMapping.Failure) -> Value {
        switch field {
        case .fixed(let value): return value
        case .at(let path, let fallback):
            guard let found = document[path] else {
                if let fallback { return fallback }
                throw ConnectOptionsMapping.Failure(message: "has no value at \(path.description.quoted())")
            }
            guard let value = read(found) else {
                throw ConnectOptionsMapping.Failure(
                    message: "has \(found.kind) at \(path.description.quoted()), but \(kind) is required")
            }
            return value
        }
    }

    func value(ofOptional field: ResponseField<Value>?, in document: JSONValue) throws(ConnectOptionsMapping.Failure)
        -> Value?
    {
        guard let field else { return nil }
        return try value(of: field, in: document)
    }
}

extension JSONReading where Value == String {
    static var text: Self {
        Self(kind: "a string") { if case .text(let text) = $0 { text } else { nil } }
    }
}

extension JSONReading where Value == Bool {
    static var boolean: Self {
        Self(kind: "a boolean") { if case .boolean(let value) = $0 { value } else { nil } }
    }
}

extension JSONReading where Value == Double {
    static var number: Self {
        Self(kind: "a number") { value in
            switch value {
            case .number(let number): number
            // A string is accepted, because some services write numbers as strings. The strings "nan" and "inf" are not
            // accepted.
            case .text(let text): Double(text).flatMap { $0.isFinite ? $0 : nil }
            case .null, .boolean, .list, .object: nil
            }
        }
    }
}

extension JSONReading where Value == UInt16 {
    static var smallNumber: Self {
        Self(kind: "a whole number from 0 to 65535") { value in
            JSONReading<Double>.number.read(value).flatMap { UInt16(exactly: $0) }
        }
    }
}

extension JSONReading where Value == [String] {
    static var list: Self {
        Self(kind: "a list of strings") { value in
            guard case .list(let elements) = value else { return nil }
            let texts = elements.compactMap { JSONReading<String>.text.read($0) }
            return texts.count == elements.count ? texts : nil
        }
    }
}

extension JSONReading where Value == [String: String] {
    static var texts: Self {
        Self(kind: "an object of strings") { value in
            guard case .object(let members) = value else { return nil }
            let texts = members.compactMapValues { JSONReading<String>.text.read($0) }
            return texts.count == members.count ? texts : nil
        }
    }
}

extension JSONReading where Value == [BrokerEndpoint] {
    static var endpoints: Self {
        Self(kind: "a list of objects with host and port") { value in
            guard case .list(let elements) = value else { return nil }
            let endpoints = elements.compactMap { endpoint($0) }
            return endpoints.count == elements.count ? endpoints : nil
        }
    }

    private static func endpoint(_ value: JSONValue) -> BrokerEndpoint? {
        let number = JSONReading<UInt16>.smallNumber
        let text = JSONReading<String>.text
        do throws(ConnectOptionsMapping.Failure) {
            return BrokerEndpoint(
                host: try text.value(of: "host", in: value), port: try number.value(of: "port", in: value),
                priority: try number.value(of: .at("priority", default: 0), in: value),
                weight: try number.value(of: .at("weight", default: 1), in: value),
                scheme: value["scheme"] == nil ? nil : try text.value(of: "scheme", in: value))
        } catch {
            return nil  // The caller refuses the whole list, and reports its path.
        }
    }
}

extension JSONReading where Value == Date {
    /// The smallest number that means milliseconds. If it were seconds, it would be a date in the year 5138.
    private static var leastMilliseconds: Double { 1e11 }
    /// The largest number of seconds since 1970 that is accepted, because `Date` stores times up to this number
    /// precisely (year 33658).
    private static var farthest: Double { 1e12 }

    static var date: Self {
        Self(kind: "a time in ISO 8601 format, or a number of seconds since 1970") { value in
            if case .text(let text) = value, let date = iso8601(text) { return date }
            guard let number = JSONReading<Double>.number.read(value) else { return nil }
            let seconds = number >= leastMilliseconds ? number / 1_000 : number
            guard abs(seconds) <= farthest else { return nil }
            return Date(timeIntervalSince1970: seconds)
        }
    }

    private static func iso8601(_ text: String) -> Date? {
        let whole = Date.ISO8601FormatStyle()
        return try? (try? whole.parse(text)) ?? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text)
    }
}
