/// The reason why a command with valid options cannot begin, in the words of the mosquitto clients. Examples are a
/// missing file and a value that TLS does not accept.
///
/// `--quiet` hides the text of this error. It does not hide the text of an `ArgumentError`.
package struct StartFailure: Error, Hashable {
    /// The lines to print.
    package let lines: [String]
    /// Details that mosquitto does not print. Printed only for a person at a terminal, so that scripts read the same
    /// lines.
    package let explanation: String?
    /// Whether the program prints a hint about `--help` after the lines, even with `--quiet`.
    package let showsUsage: Bool

    /// Makes a failure.
    ///
    /// - Parameters:
    ///   - lines: The lines to print.
    ///   - explanation: The reason, if the lines do not contain it; `nil` by default.
    ///   - showsUsage: Whether the program prints a hint about `--help`; `false` by default.
    package init(_ lines: String..., explanation: String? = nil, showsUsage: Bool = false) {
        self.lines = lines
        self.explanation = explanation
        self.showsUsage = showsUsage
    }
}
