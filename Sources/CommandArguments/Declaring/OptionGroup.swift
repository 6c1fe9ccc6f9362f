/// Options that belong together, under a title of their own in help.
package struct OptionGroup<Target>: Sendable {
    /// The title, such as `Connection`.
    package let title: String

    /// The options, in the order of help.
    package let options: [Option<Target>]

    /// Joins the two.
    ///
    /// - Parameters:
    ///   - title: The title.
    ///   - options: The options.
    package init(_ title: String, _ options: [Option<Target>]) {
        self.title = title
        self.options = options
    }

    /// The same group for settings that hold these as a part.
    ///
    /// - Parameter part: Where they are.
    /// - Returns: The group.
    package func part<Whole>(_ part: any WritableKeyPath<Whole, Target> & Sendable) -> OptionGroup<Whole> {
        OptionGroup<Whole>(title, options.map { $0.part(part) })
    }

    /// What help says of it.
    package var summary: OptionGroupSummary { OptionGroupSummary(title: title, options: options.map(\.summary)) }
}

/// What help says of a group of options.
package struct OptionGroupSummary: Hashable, Sendable {
    /// The title.
    package let title: String

    /// The options.
    package let options: [OptionSummary]
}
