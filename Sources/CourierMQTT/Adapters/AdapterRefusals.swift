import CourierCore

/// The adapters that could not encode or decode a value, and their reasons.
struct AdapterRefusals: Error {
    /// One adapter's refusal of a value.
    private struct Refusal {
        let index: Int
        let contentType: String
        let error: any Error
    }

    private var refusals: [Refusal] = []

    /// Returns true if the adapter with this index was tried and threw an error.
    func hasAsked(_ index: Int) -> Bool { refusals.contains { $0.index == index } }

    mutating func add(_ index: Int, _ contentType: String, _ error: any Error) {
        refusals.append(Refusal(index: index, contentType: contentType, error: error))
    }

    /// Makes one error from all refusals. Its cause is the first refusal that is not a `CourierError`, because a
    /// `CourierError` usually says only that the adapter does not support the type.
    func error(_ code: CourierError.Code, _ what: String, remedy: String) -> CourierError {
        let reasons = refusals.map { "\($0.contentType): \(Self.reason($0.error))" }
        let list = reasons.isEmpty ? "there is no adapter" : reasons.joined(separator: "; ")
        let cause = refusals.first { !($0.error is CourierError) }?.error
        return CourierError(code, "\(what) (\(list)). \(remedy).", cause: cause)
    }
}

extension AdapterRefusals {
    /// Returns the reason of a refusal as text, without parts of the payload.
    static func reason(_ error: any Error) -> String {
        switch error {
        case let error as CourierError: error.message
        case let error as DecodingError: reason(error)
        case EncodingError.invalidValue(let value, let context):
            "a value of type \(type(of: value))\(path(context.codingPath)) cannot be encoded"
        default: reason(ofForeign: error)
        }
    }

    private static func reason(_ error: DecodingError) -> String {
        switch error {
        case .typeMismatch(let type, let context):
            "the value\(path(context.codingPath, orElse: " at the top")) is not of type \(type)"
        case .valueNotFound(let type, let context):
            "a value of type \(type) is missing\(path(context.codingPath, orElse: " at the top"))"
        case .keyNotFound(let key, let context): "a value is missing\(path(context.codingPath + [key]))"
        case .dataCorrupted(let context): "the bytes\(path(context.codingPath)) are not well-formed"
        @unknown default: "the bytes cannot be decoded"
        }
    }

    /// Returns only the type of an unknown error, because its text may contain parts of the payload.
    private static func reason(ofForeign error: any Error) -> String {
        let mirror = Mirror(reflecting: error)
        guard mirror.displayStyle == .enum else { return "\(type(of: error))" }
        return "\(type(of: error))\(mirror.children.first?.label.map { ".\($0)" } ?? "")"
    }

    /// Returns the position of the failure within the value, such as ` at notes[2].title`.
    ///
    /// The position contains array indices, and keys that are cases of an enum. Other keys may be part of the payload,
    /// such as the keys of a dictionary. They are shown as `…`.
    private static func path(_ keys: [any CodingKey], orElse empty: String = "") -> String {
        guard !keys.isEmpty else { return empty }
        var text = ""
        for key in keys {
            let mirror = Mirror(reflecting: key)
            let isCase = mirror.displayStyle == .enum && mirror.children.isEmpty
            if let index = key.intValue, mirror.children.first?.label == "index" {
                text += "[\(index)]"
            } else {
                text += (text.isEmpty ? "" : ".") + (isCase ? key.stringValue : "…")
            }
        }
        return " at \(text)"
    }
}
