import Foundation

/// Decides whether a redirect is followed.
///
/// Redirects are followed only within the same origin. Header fields and bodies with credentials are thus sent to no
/// other server, and no redirect leads from `https` to `http`.
struct RedirectRules: Sendable {
    /// The request that follows a redirect.
    struct Step: Equatable, Sendable {
        let url: URL
        /// True if method and body stay the same. Otherwise the next request is a GET without a body.
        let keepsMethod: Bool
    }

    /// The reason why a redirect is not followed.
    struct Refusal: Error, Equatable {
        let message: String
    }

    /// The maximum number of redirects that are followed one after the other.
    let maximumCount: Int

    /// Returns the next request, or `nil` if `reply` is not a redirect. `count` is the number of redirects that were
    /// already followed.
    func step(after reply: HTTPReply, from url: URL, method: String, count: Int) throws(Refusal) -> Step? {
        let keepsMethod: Bool
        switch reply.status {
        case 307, 308: keepsMethod = true
        // After 301 and 302, a POST becomes a GET, because RFC 9110, sections 15.4.2 and 15.4.3, allows this, and other
        // clients do the same.
        case 301, 302: keepsMethod = method != "POST"
        case 303: keepsMethod = false
        default: return nil
        }
        guard let location = reply.location, let target = URL(string: location, relativeTo: url)?.absoluteURL else {
            throw Refusal(message: "redirects with status \(reply.status), but without a valid address")
        }
        guard let origin = HTTPOrigin(target), origin == HTTPOrigin(url) else {
            let place = HTTPOrigin(target)?.description ?? "an address that is not an HTTP URL"
            throw Refusal(message: "redirects to \(place), which is another origin and must not get the credentials")
        }
        guard count < maximumCount else {
            throw Refusal(message: "redirects more than \(maximumCount) times in a row")
        }
        return Step(url: target, keepsMethod: keepsMethod)
    }
}
