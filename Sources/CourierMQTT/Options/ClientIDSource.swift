import CourierCore

/// Fills in the client ids that are written as a template, such as `myapp_%%%%`.
///
/// Every `%` in a client id stands for one random letter or digit. They are drawn once, when the client is made, so one
/// template gives the same id for the client's whole life, and with it the same session; another template of the client
/// gets the same characters. A template of as few as four has 62⁴, about 15 million, ids. `%u` and `%c` mean something
/// in topics only; a lone `%` before `u` or `c` is therefore refused.
struct ClientIDSource: Sendable {
    /// How many random characters one client id may have.
    static let randomCharacterLimit = 64

    /// All that MQTT 3.1.1 obliges a server to accept in a client id [MQTT-3.1.3-5].
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

    private let seed: UInt64

    /// Draws what the characters follow from.
    init(using generator: inout some RandomNumberGenerator) { seed = generator.next() }

    /// The client id that a template stands for; one without `%` stands for itself.
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

    /// Makes sure that this is a client id, or a template for one.
    ///
    /// - Throws: ``CourierError/Code/invalidConfiguration`` for a text that MQTT does not allow, too many `%`, or `%u`
    ///   and `%c`.
    static func check(_ template: String, _ texts: WireText) throws(CourierError) {
        if let problem = texts.problem(template) {
            throw CourierError(.invalidConfiguration, "The client id \(template.quoted()) \(problem).")
        }
        let count = template.utf8.count { $0 == UInt8(ascii: "%") }
        guard count <= randomCharacterLimit else {
            throw CourierError(
                .invalidConfiguration,
                "The client id \(template.quoted()) has \(count) times %; each stands for a random character, and at "
                    + "most \(randomCharacterLimit) are allowed.")
        }
        if let placeholder = topicPlaceholder(in: template) {
            throw CourierError(
                .invalidConfiguration,
                "The client id \(template.quoted()) contains \(placeholder), which has a meaning in topics only; in a "
                    + "client id each % stands for a random character, as in \"myapp_%%%%\".")
        }
    }

    /// A `%u` or `%c` that is not the end of a row of `%`.
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
