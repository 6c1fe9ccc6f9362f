package import CommandArguments

/// The command `courier store`: shows, exports and removes the messages in a store file.
package struct StoreCommand: CourierCommand {
    package init() {}

    package var summary: CommandSummary {
        CommandSummary(
            name: "store",
            abstract: "find clients' message files; list, count, export or remove the messages in a file",
            usage: [
                "files [-i ID]",
                "list FILE [-i ID] [--broker HOST:PORT] [--rejected]", "count FILE [-i ID] [--broker HOST:PORT]",
                "export FILE [-i ID] [--broker HOST:PORT] [--rejected]",
                "purge FILE (-i ID --broker HOST:PORT | --all) [--rejected]",
            ],
            discussion: [
                "files lists the files of clients that have isMessagePersistenceEnabled and no message store of the app: "
                    + "the client ids in each file, and whether a program has the file open. It searches "
                    + "$XDG_STATE_HOME, $STATE_DIRECTORY and ~/.local/state.",
                "list prints a line for each message, rejected message, packet id and subscription, without payloads; "
                    + "count prints one line for each client and broker; export prints everything as JSON Lines, with payloads in "
                    + "Base64. These three change nothing, and work while a program has the file open.",
                "purge removes the rows of one client and broker, or all rows. With --rejected, it removes only rejected "
                    + "messages. No program may have the file open.",
            ],
            groups: StoreArguments.groups.map(\.summary),
            examples: [
                .init(
                    "courier store files", "Finds messages that a renamed program or a changed client id left behind."),
                .init("courier store count messages.store", "Prints how many messages wait, by client and broker."),
                .init("courier store export messages.store > backup.jsonl", "Saves everything."),
                .init(
                    "courier store purge messages.store -i desk --broker localhost:1883",
                    "Removes the messages that are not delivered yet."),
            ],
            exitCodes: [
                .init("0", "Done."),
                .init("1", "The command line is wrong, or the file is missing, is not a store, or is in use."),
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
