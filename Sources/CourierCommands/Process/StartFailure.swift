/// Why a command whose options are right cannot begin, in the words of the mosquitto clients: a file that is not there, or a
/// value that TLS does not take.
///
/// `--quiet` hides the text of this error. It does not hide the text of an `ArgumentError`.
package struct StartFailure: Error, Hashable {
    /// What is printed.
    package let lines: [String]
    /// What mosquitto's words leave out; printed for a person at a terminal only, so that scripts read the same lines.
    package let explanation: String?
    /// Whether the program prints a hint about `--help` after the lines, even with `--quiet`.
    package let showsUsage: Bool

    /// Collects what is printed.
    ///
    /// - Parameters:
    ///   - lines: What is printed.
    ///   - explanation: The reason that these lines do not give; `nil` by default.
    ///   - showsUsage: Whether the program names its help; `false` by default.
    package init(_ lines: String..., explanation: String? = nil, showsUsage: Bool = false) {
        self.lines = lines
        self.explanation = explanation
        self.showsUsage = showsUsage
    }
}
