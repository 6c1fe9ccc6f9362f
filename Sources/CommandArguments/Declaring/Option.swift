/// One option of a command: its names, its help text, and an action that changes the command's settings.
///
/// ```swift
/// let options: [Option<Settings>] = [
///     Option(OptionNames("h", "host"), .one("HOST"), "The broker's name or address.", missing: "host") {
///         $0.host = $1[0]
///     },
///     Option(OptionNames("v", "verbose"), "Prints topics too.") { settings, _ in settings.isVerbose = true },
/// ]
/// ```
///
/// Every option needs an action, so that no option is accepted and then ignored.
package struct Option<Target>: Sendable {
    /// Changes the settings with the option's values. It throws an ``ArgumentError`` if a value is invalid.
    package typealias Action = @Sendable (inout Target, [String]) throws -> Void

    /// The description of the option for help, manual page and shell completions.
    package let summary: OptionSummary

    let values: OptionValues
    let action: Action
    /// The error message if the command line ends before the option's values.
    let missingText: String

    /// Declares an option without values.
    ///
    /// - Parameters:
    ///   - names: The names of the option.
    ///   - help: One or two sentences for the help text.
    ///   - action: The action that changes the settings.
    package init(_ names: OptionNames, _ help: String, action: @escaping Action) {
        self.init(names, .none, help, action: action)
    }

    /// Declares an option with values.
    ///
    /// - Parameters:
    ///   - names: The names of the option.
    ///   - values: The values that follow the option.
    ///   - help: One or two sentences for the help text.
    ///   - missing: The name of a missing value in the standard error message, such as `host`.
    ///   - missingText: A complete error message for missing values, which replaces the standard message.
    ///   - action: The action that changes the settings.
    package init(
        _ names: OptionNames, _ values: OptionValues, _ help: String, missing: String = "value",
        missingText: String? = nil, action: @escaping Action
    ) {
        self.init(
            OptionSummary(names: names, valueNames: values.names, completion: values.completion, help: help),
            values, missingText ?? Self.missingText(names, missing), action)
    }

    /// Declares an option that is known but not supported. Its error message names the option.
    ///
    /// - Parameters:
    ///   - names: The names of the option.
    ///   - values: The values that follow the option, or `.none`.
    ///   - help: The help text: the effect that the option would have.
    ///   - hint: A sentence that tells the user what to do instead.
    ///   - missing: The name of a missing value in the standard error message, such as `key`.
    ///   - record: Stores the error in the settings. The command reports other mistakes first and must then throw this
    ///     error.
    /// - Returns: The option.
    package static func refused(
        _ names: OptionNames, _ values: OptionValues, _ help: String, hint: String, missing: String = "value",
        record: @escaping @Sendable (inout Target, ArgumentError) -> Void
    ) -> Option {
        Option(
            OptionSummary(
                names: names, valueNames: values.names, completion: values.completion, help: help, refusal: hint),
            values, missingText(names, missing)
        ) { target, _ in
            record(&target, ArgumentError("The option \(names.main) is not supported.", hint: hint))
        }
    }

    private static func missingText(_ names: OptionNames, _ missing: String) -> String {
        "\(names.main) argument given but no \(missing) specified."
    }

    private init(_ summary: OptionSummary, _ values: OptionValues, _ missingText: String, _ action: @escaping Action) {
        self.summary = summary
        self.values = values
        self.missingText = missingText
        self.action = action
    }

    /// Returns the same option for a larger settings type, which contains the settings of this option.
    ///
    /// - Parameter part: The key path to these settings in the larger settings.
    /// - Returns: The option.
    package func part<Whole>(_ part: any WritableKeyPath<Whole, Target> & Sendable) -> Option<Whole> {
        let action = action
        return Option<Whole>(summary, values, missingText) { try action(&$0[keyPath: part], $1) }
    }
}
