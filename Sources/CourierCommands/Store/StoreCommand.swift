package import CommandArguments

/// `courier store`: looks into the file of `--store`, and removes from it.
package struct StoreCommand: CourierCommand {
    package init() {}

    package var summary: CommandSummary {
        CommandSummary(
            name: "store", abstract: "find the files of clients; list, count, export or remove the messages in one",
            usage: [
                "files [-i ID]",
                "list FILE [-i ID] [--broker HOST:PORT] [--rejected]", "count FILE [-i ID] [--broker HOST:PORT]",
                "export FILE [-i ID] [--broker HOST:PORT] [--rejected]",
                "purge FILE (-i ID --broker HOST:PORT | --all) [--rejected]",
            ],
            discussion: [
                "files lists the files that clients keep by themselves, those with isMessagePersistenceEnabled and no "
                    + "message store of the app: whose messages they hold, and whether a program has them open. It looks where these "
                    + "clients do, in $XDG_STATE_HOME, $STATE_DIRECTORY or ~/.local/state.",
                "list prints a line for each message, rejected message, packet id and subscription, without payloads; "
                    + "count one for each client and broker; export all of it as JSON Lines, with payloads in Base64. They change nothing, and "
                    + "may be used while a program has the file open.",
                "purge removes what is of a client for a broker, or all. With --rejected it removes only rejected "
                    + "messages. No program may have the file open.",
            ],
            groups: StoreArguments.groups.map(\.summary),
            examples: [
                .init("courier store files", "Finds what a renamed program or a changed client id has left behind."),
                .init("courier store count messages.store", "Says how much waits, and for whom."),
                .init("courier store export messages.store > backup.jsonl", "Saves everything."),
                .init(
                    "courier store purge messages.store -i pendingRequests --broker localhost:1883",
                    "Forgets what is not delivered yet."),
            ],
            exitCodes: [
                .init("0", "Done."),
                .init("1", "The command line is wrong, or the file is missing, no store, or in use."),
            ])
    }

    package func run(_ arguments: [String], _ console: Console) throws -> Int32 {
        var settings = StoreArguments()
        try ArgumentReader(StoreArguments.groups, operands: .accepted { try $0.take($1) })
            .read(arguments, into: &settings)
        let (action, path) = try settings.checked()
        if let path {
            try StoreRun(settings, path: path, console).perform(action)
        } else {
            try StoreFiles(settings, console).list()
        }
        return ExitCode.success
    }
}
