/// The error for a law that an implementation breaks. ``MessageStoreLaws``, ``MessageAdapterLaws`` and
/// ``DuplexByteStreamLaws`` throw it.
public struct LawViolation: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the law, such as `batchesAreAtomic`.
    public let law: String

    /// The expected and the actual behavior.
    public let finding: String

    init(_ law: String, _ finding: String) {
        self.law = law
        self.finding = finding
    }

    /// The name of the law, and the finding.
    public var description: String { "\(law): \(finding)" }
}

/// The error for a broken requirement. It becomes a ``LawViolation`` when the name of the law is added.
struct Finding: Error {
    let text: String
    init(_ text: String) { self.text = text }
}

/// Throws an error with `text` unless `condition` is true.
func require(_ condition: Bool, _ text: @autoclosure () -> String) throws(Finding) {
    if !condition { throw Finding(text()) }
}

/// Throws an error unless `found` equals `expected`. In the error's text, `what` is the name of the compared value.
func require<Value: Equatable>(_ what: String, _ found: Value, is expected: Value) throws(Finding) {
    if found != expected { throw Finding("\(what): found \(brief(found)), expected \(brief(expected))") }
}

/// Returns a description of a value, shortened if it is long.
func brief<Value>(_ value: Value) -> String {
    let text = "\(value)"
    return text.count <= 400 ? text : "\(text.prefix(400))…"
}
