import Foundation

/// What came back, as far as it matters here.
struct HTTPReply: Sendable {
    let status: Int
    /// The header field `Location`.
    let location: String?
    /// The header field `Retry-After`.
    let retryAfter: String?
    let body: Data

    var isSuccess: Bool { (200...299).contains(status) }
}
