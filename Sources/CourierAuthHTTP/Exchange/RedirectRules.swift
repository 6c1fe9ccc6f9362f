import Foundation

/// Whether a redirect is followed.
///
/// Only to the same origin, so that neither a header field nor a body with credentials reaches anybody else, and no way leads from
/// `https` to `http`.
struct RedirectRules: Sendable {
    /// Where a redirect leads.
    struct Step: Equatable, Sendable {
        let url: URL
        /// Whether method and body stay; a GET without a body otherwise.
        let keepsMethod: Bool
    }

    /// Why it is not followed.
    struct Refusal: Error, Equatable {
        let message: String
    }

    /// How many are followed in a row.
    let maximumCount: Int

    /// Where to continue; `nil` when `reply` is no redirect. `count` redirects were followed before.
    func step(after reply: HTTPReply, from url: URL, method: String, count: Int) throws(Refusal) -> Step? {
        let keepsMethod: Bool
        switch reply.status {
        case 307, 308: keepsMethod = true
        case 301, 302: keepsMethod = method != "POST"  // As RFC 9110, 15.4.2 allows and everybody does.
        case 303: keepsMethod = false
        default: return nil
        }
        guard let location = reply.location, let target = URL(string: location, relativeTo: url)?.absoluteURL else {
            throw Refusal(message: "redirects to nowhere, with status \(reply.status)")
        }
        guard let origin = HTTPOrigin(target), origin == HTTPOrigin(url) else {
            let place = HTTPOrigin(target)?.description ?? "what is no URL of HTTP"
            throw Refusal(message: "redirects to \(place), another origin, which the credentials are not meant for")
        }
        guard count < maximumCount else {
            throw Refusal(message: "redirects more than \(maximumCount) times in a row")
        }
        return Step(url: target, keepsMethod: keepsMethod)
    }
}
