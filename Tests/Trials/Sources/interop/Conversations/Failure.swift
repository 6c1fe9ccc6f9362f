/// What was not as it should be.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// - Throws: ``Failure`` with the words if `condition` does not hold.
func check(_ condition: Bool, _ words: @autoclosure () -> String) throws {
    if !condition { throw Failure(words()) }
}
