import CourierCore
import Foundation

/// A value that is neither text nor bytes.
struct Note: Codable, Hashable, Sendable {
    var title: String
    var rank: Int
    var tags: [String: [Int]] = [:]
}

/// A type of an app that no built-in adapter supports.
struct Opaque: Hashable, Sendable {
    var number: Int
}

/// An app's adapter for ``Opaque`` only. Its errors contain the payload.
struct OpaqueAdapter: MessageAdapter {
    struct Leak: Error { let payload: Data }

    var contentType = "application/vnd.opaque"

    func fromMessage<T>(_ message: Data, topic: String) throws -> T {
        let text = String(decoding: message, as: UTF8.self)
        guard let value = Int(text).map(Opaque.init(number:)) as? T else { throw Leak(payload: message) }
        return value
    }

    func toMessage<T>(data: T, topic: String) throws -> Data {
        guard let value = data as? Opaque else { throw Leak(payload: Data("secret".utf8)) }
        return Data("\(value.number)".utf8)
    }
}
