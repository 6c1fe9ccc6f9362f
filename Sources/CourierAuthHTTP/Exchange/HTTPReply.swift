import Foundation

/// The parts of an HTTP response that this module uses.
struct HTTPReply: Sendable {
    let status: Int
    /// The value of the header field `Location`.
    let location: String?
    /// The value of the header field `Retry-After`.
    let retryAfter: String?
    let body: Data

    var isSuccess: Bool { (200...299).contains(status) }
}
