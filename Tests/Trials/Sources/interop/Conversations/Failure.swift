/// A failed check, with its description.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Checks a condition.
///
/// - Throws: ``Failure`` with `words` if `condition` is false.
func check(_ condition: Bool, _ words: @autoclosure () -> String) throws {
    if !condition { throw Failure(words()) }
}
