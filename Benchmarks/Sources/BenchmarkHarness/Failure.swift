/// What went wrong with a measurement, for the reader the terminal.
package struct Failure: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}
