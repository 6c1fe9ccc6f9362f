public import Foundation

/// Where the answer of a token endpoint says how long its credentials are good.
public enum GrantExpiry: Sendable {
    /// Nowhere: the answer is not kept, and the client uses it until the broker refuses it.
    case unknown
    /// So many seconds from the request on, such as `.after("expires_in")` of OAuth 2.0 or `.after(.fixed(3_600))`.
    case after(ResponseField<Double>)
    /// At this time, such as `.at("expires_at")`: a text in the form of ISO 8601, or a number of seconds since 1970; a
    /// number of 10^11 or more is taken for milliseconds.
    case at(ResponseField<Date>)
}
