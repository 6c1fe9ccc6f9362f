import Foundation
import Synchronization

/// Issues tokens that expire, and checks tokens.
final class TokenOffice: Sendable {
    private typealias Token = (name: String, end: ContinuousClock.Instant)

    /// The maximum number of stored tokens. When it is reached, a new token replaces the one that expires first.
    private static let limit = 1_000

    let lifetime: Duration
    private let secret: String
    private let tokens = Mutex<[String: Token]>([:])

    init(secret: String, lifetime: Duration) {
        self.secret = secret
        self.lifetime = lifetime
    }

    /// Returns a new token for `name`, or `nil` if the secret is wrong.
    func token(for name: String, secret: String) -> String? {
        guard secret == self.secret, !name.isEmpty, name.allSatisfy(\.isLetter) else { return nil }
        let token = UUID().uuidString
        tokens.withLock { tokens in
            if tokens.count == Self.limit, let first = tokens.min(by: { $0.value.end < $1.value.end }) {
                tokens[first.key] = nil
            }
            tokens[token] = (name, .now + lifetime)
        }
        return token
    }

    /// Revokes all tokens of `name`.
    func revoke(_ name: String) {
        tokens.withLock { tokens in tokens = tokens.filter { $0.value.name != name } }
    }

    /// Returns the time when a token for `name` expires, or `nil` if the token is not valid.
    func end(of token: String, for name: String) -> ContinuousClock.Instant? {
        guard let known = tokens.withLock({ $0[token] }), known.name == name, known.end > .now else { return nil }
        return known.end
    }
}
