/// A group of related options, which help shows under one title.
package struct OptionGroup<Target>: Sendable {
    /// The title, such as `Connection`.
    package let title: String

    /// The options, in the order in which help shows them.
    package let options: [Option<Target>]

    /// Creates a group.
    ///
    /// - Parameters:
    ///   - title: The title.
    ///   - options: The options.
    package init(_ title: String, _ options: [Option<Target>]) {
        self.title = title
        self.options = options
    }

    /// Returns the same group for a larger settings type, which contains the settings of this group.
    ///
    /// - Parameter part: The key path to these settings in the larger settings.
    /// - Returns: The group.
    package func part<Whole>(_ part: any WritableKeyPath<Whole, Target> & Sendable) -> OptionGroup<Whole> {
        OptionGroup<Whole>(title, options.map { $0.part(part) })
    }

    /// The description of the group for help, manual page and shell completions.
    package var summary: OptionGroupSummary { OptionGroupSummary(title: title, options: options.map(\.summary)) }
}

/// The description of an option group for help, manual page and shell completions.
package struct OptionGroupSummary: Hashable, Sendable {
    /// The title of the group.
    package let title: String

    /// The options.
    package let options: [OptionSummary]
}
