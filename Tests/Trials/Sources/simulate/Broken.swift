/// An invariant that does not hold: the walk that found it ends there.
struct Broken: Error {
    let message: String
    init(_ message: String) { self.message = message }
}
