import CourierCore

/// Makes client ids from templates such as `myapp_%%%%`.
///
/// Each `%` in a template stands for one random letter or digit. The random characters are chosen when the client is
/// made. So a template gives the same client id, and thus the same session, for the life of the client. All templates
/// of a client get the same random characters. A template with four `%` has 62⁴ ids, about 15 million. In topics, `%u`
/// and `%c` are placeholders. To prevent confusion, a client id with a single `%` before `u` or `c` is refused.
struct ClientIDSource: Sendable {
    /// The largest number of random characters in one client id.
    static let randomCharacterLimit = 64

    /// The characters that each MQTT 3.1.1 server must accept in a client id [MQTT-3.1.3-5].
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

    private let seed: UInt64

    /// Makes a source with a random seed, which determines the random characters.
    init(using generator: inout some RandomNumberGenerator) { seed = generator.next() }

    /// Returns the client id for a template. A text without `%` is returned unchanged.
    ///
    /// - Throws: The error of ``check(_:_:)``.
    func clientID(from template: String, _ texts: WireText) throws(CourierError) -> String {
        try Self.check(template, texts)
        guard template.utf8.contains(UInt8(ascii: "%")) else { return template }
        var random = JitterSource(seed: seed)
        let filled = template.utf8.map { byte in
            byte == UInt8(ascii: "%") ? Self.alphabet[Int.random(in: Self.alphabet.indices, using: &random)] : byte
        }
        return String(decoding: filled, as: UTF8.self)
    }

    /// Checks that a text is a client id, or a template for a client id.
    ///
    /// - Throws: ``CourierError/Code/invalidConfiguration`` if MQTT does not allow the text, or if the text contains a
    ///   `%u`, a `%c`, or too many `%`.
    static func check(_ template: String, _ texts: WireText) throws(CourierError) {
        if let problem = texts.problem(template) {
            throw CourierError(.invalidConfiguration, "The client id \(template.quoted()) \(problem).")
        }
        let count = template.utf8.count { $0 == UInt8(ascii: "%") }
        guard count <= randomCharacterLimit else {
            throw CourierError(
                .invalidConfiguration,
                "The client id \(template.quoted()) contains % \(count) times. Each % stands for a random character; "
                    + "at most \(randomCharacterLimit) are allowed.")
        }
        if let placeholder = topicPlaceholder(in: template) {
            throw CourierError(
                .invalidConfiguration,
                "The client id \(template.quoted()) contains \(placeholder), which is allowed only in topics. "
                    + "In a client id, each % stands for a random character, as in \"myapp_%%%%\".")
        }
    }

    /// Returns the first `%u` or `%c` whose `%` does not follow another `%`; `nil` if the template contains none.
    private static func topicPlaceholder(in template: String) -> String? {
        var row = 0
        for character in template {
            if character == "%" {
                row += 1
                continue
            }
            if row == 1, character == "u" || character == "c" { return "%\(character)" }
            row = 0
        }
        return nil
    }
}
