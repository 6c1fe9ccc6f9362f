/// An invariant that was broken. The walk ends when this is thrown.
struct Broken: Error {
    let message: String
    init(_ message: String) { self.message = message }
}
