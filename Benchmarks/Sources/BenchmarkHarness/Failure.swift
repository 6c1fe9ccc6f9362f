/// The reason why a measurement failed. The program prints it on the terminal.
package struct Failure: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}
