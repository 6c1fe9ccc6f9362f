/// A text that stands for a password in inputs. No error may contain it.
package enum Secret {
    /// The text.
    package static let text = "Zq9w7Kx3"

    /// Checks that a text does not contain the secret.
    package static func demandAbsent(in text: String) {
        demand(!text.contains(Self.text), "a text contains the password: \(text.debugDescription)")
    }
}
