/// The reason why a command with valid options cannot begin, in the words of the mosquitto clients. Examples are a
/// missing file and a value that TLS does not accept.
///
/// `--quiet` hides the text of this error. It does not hide the text of an `ArgumentError`.
package struct StartFailure: Error, Hashable {
    /// The lines to print.
    package let lines: [String]
    /// Details that mosquitto does not print; `nil` if there are none. They are printed only on a terminal, so that
    /// scripts get the same lines as from mosquitto.
    package let explanation: String?
    /// Whether the program prints a hint about `--help` after the lines, even with `--quiet`.
    package let showsUsage: Bool

    /// Creates an error.
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
