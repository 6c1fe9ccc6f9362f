package import CommandArguments

/// The command `courier demo`: shows in a few seconds how the SDK behaves when the network fails.
package struct DemoCommand: CourierCommand {
    package init() {}

    private struct Settings {}

    private static let groups: [OptionGroup<Settings>] = [HelpOptions.group()]

    package var summary: CommandSummary {
        CommandSummary(
            name: "demo", abstract: "watch two clients lose their connections, but no messages",
            usage: ["[--help]"],
            discussion: [
                "Two clients exchange messages through a broker, all in this process. Then every connection is cut. "
                    + "New messages wait, and arrive when the clients have connected again. "
                    + "The demo takes about two seconds, and needs no network."
            ],
            groups: Self.groups.map(\.summary),
            examples: [.init("courier demo", "Runs the demo.")],
            exitCodes: [
                .init("0", "Every message arrived exactly once and in order."),
                .init("1", "The command line is wrong, or the demonstration did not end within a minute."),
            ])
    }

    package func run(_ arguments: [String], _ console: Console) throws -> Int32 {
        var settings = Settings()
        try ArgumentReader(Self.groups).read(arguments, into: &settings)
        return try DemoRun(console).run()
    }
}
