/// What went wrong with a measurement, for whoever reads the terminal.
package struct Failure: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}
