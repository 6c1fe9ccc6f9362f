/// One option of a command: its names, its help, and what it does to the command's settings.
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
/// An option without an action cannot be written, so none is taken and ignored.
package struct Option<Target>: Sendable {
    /// Changes the settings; gets the option's values. It throws an ``ArgumentError`` for a value that makes no sense.
    package typealias Action = @Sendable (inout Target, [String]) throws -> Void

    /// What help says of it.
    package let summary: OptionSummary

    let values: OptionValues
    let action: Action
    /// The error for an option at whose end its values are missing.
    let missingText: String

    /// Declares an option that stands alone.
    ///
    /// - Parameters:
    ///   - names: Its names.
    ///   - help: A sentence or two.
    ///   - action: What it does.
    package init(_ names: OptionNames, _ help: String, action: @escaping Action) {
        self.init(names, .none, help, action: action)
    }

    /// Declares an option with values.
    ///
    /// - Parameters:
    ///   - names: Its names.
    ///   - values: Its values.
    ///   - help: A sentence or two.
    ///   - missing: What an error says is missing where values are, such as `host`.
    ///   - missingText: The whole error instead, for options that word it in a way of their own.
    ///   - action: What it does.
    package init(
        _ names: OptionNames, _ values: OptionValues, _ help: String, missing: String = "value",
        missingText: String? = nil, action: @escaping Action
    ) {
        self.init(
            OptionSummary(names: names, valueNames: values.names, completion: values.completion, help: help),
            values, missingText ?? Self.missingText(names, missing), action)
    }

    /// Declares an option that is known and cannot be served: it is refused by name.
    ///
    /// - Parameters:
    ///   - names: Its names.
    ///   - values: Its values, or `.none`.
    ///   - help: What it would do.
    ///   - hint: What to do instead, as a sentence.
    ///   - missing: What an error says is missing where values are, such as `key`.
    ///   - record: Stores the refusal, for a command that reports other mistakes first and must throw the refusal then.
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

    /// The same option for settings that hold these as a part.
    ///
    /// - Parameter part: Where they are.
    /// - Returns: The option.
    package func part<Whole>(_ part: any WritableKeyPath<Whole, Target> & Sendable) -> Option<Whole> {
        let action = action
        return Option<Whole>(summary, values, missingText) { try action(&$0[keyPath: part], $1) }
    }
}
