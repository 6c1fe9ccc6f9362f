package import CommandArguments

extension ConnectionArguments {
    /// Returns the option groups with only the named options. A group without any named option is left out.
    ///
    /// - Parameter names: The main names of the options, such as `-h`.
    /// - Returns: The groups, in the order of help.
    package static func groups(with names: Set<String>) -> [OptionGroup<ConnectionArguments>] {
        groups.compactMap { group in
            let options = group.options.filter { names.contains($0.summary.names.main) }
            return options.isEmpty ? nil : OptionGroup(group.title, options)
        }
    }
}
