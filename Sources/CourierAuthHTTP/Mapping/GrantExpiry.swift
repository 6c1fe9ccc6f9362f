public import Foundation

/// The source of the expiry of credentials that a token endpoint returned.
public enum GrantExpiry: Sendable {
    /// The expiry is not known. The provider does not cache the credentials, and the client uses them until the broker
    /// rejects them.
    case unknown
    /// The credentials expire this number of seconds after the request, such as `.after("expires_in")` of OAuth 2.0 or
    /// `.after(.fixed(3_600))`.
    case after(ResponseField<Double>)
    /// The credentials expire at this time, such as `.at("expires_at")`. The time is a text in ISO 8601 format, or a
    /// number of seconds since 1970. A number of 10^11 or more means milliseconds.
    case at(ResponseField<Date>)
}
