import Foundation
import Synchronization

/// Gives out tokens that end, and knows which are good.
final class TokenOffice: Sendable {
    private typealias Token = (name: String, end: ContinuousClock.Instant)

    /// How many tokens are remembered; one more takes the place of the one that ends first.
    private static let limit = 1_000

    let lifetime: Duration
    private let secret: String
    private let tokens = Mutex<[String: Token]>([:])

    init(secret: String, lifetime: Duration) {
        self.secret = secret
        self.lifetime = lifetime
    }

    /// A token for `name`, who has to know the secret of the room.
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

    /// Takes back what was given to `name`.
    func revoke(_ name: String) {
        tokens.withLock { tokens in tokens = tokens.filter { $0.value.name != name } }
    }

    /// Until when a token is good for `name`; `nil` when it is not.
    func end(of token: String, for name: String) -> ContinuousClock.Instant? {
        guard let known = tokens.withLock({ $0[token] }), known.name == name, known.end > .now else { return nil }
        return known.end
    }
}
