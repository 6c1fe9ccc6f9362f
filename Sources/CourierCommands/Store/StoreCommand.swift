package import CommandArguments

/// The command `courier store`: shows, exports and removes the messages in a store file.
package struct StoreCommand: CourierCommand {
    package init() {}

    package var summary: CommandSummary {
        CommandSummary(
            name: "store",
            abstract: "find message files of clients, and list, count, export or remove their messages",
            usage: [
                "files [-i ID]",
                "list FILE [-i ID] [--broker HOST:PORT] [--rejected]", "count FILE [-i ID] [--broker HOST:PORT]",
                "export FILE [-i ID] [--broker HOST:PORT] [--rejected]",
                "purge FILE (-i ID --broker HOST:PORT | --all) [--rejected]",
                "parked (list | export) FILE [-i ID] [--broker HOST:PORT] [--processor NAME]",
                "parked show FILE MESSAGE [-i ID] [--broker HOST:PORT]",
                "parked retry FILE (MESSAGE | --all) [-i ID] [--broker HOST:PORT] [--processor NAME]",
                "parked remove FILE (MESSAGE | --all) [-i ID] [--broker HOST:PORT] [--processor NAME]",
            ],
            discussion: [
                "files lists the message files of clients that set isMessagePersistenceEnabled, but not messageStore. "
                    + "For each file, files prints the client ids, and whether a program has the file open. "
                    + "files searches the folders $XDG_STATE_HOME, $STATE_DIRECTORY and ~/.local/state.",
                "list prints a line for each message, rejected message, job, packet id and subscription. "
                    + "list prints no payloads. A job is a message that a processor must handle. "
                    + "count prints one line for each client and broker. "
                    + "export prints everything as JSON Lines, with payloads in Base64. "
                    + "list, count and export do not change the file, and work while a program has the file open.",
                "purge removes everything of one client and broker, or everything in the file. "
                    + "With --rejected, purge removes only rejected messages. "
                    + "While purge runs, no other program may have the file open.",
                "'parked list' and 'parked export' print the messages that a processor has parked. "
                    + "A processor parks a message if the last attempt to handle the message failed. "
                    + "'parked show' prints one parked message with its payload. "
                    + "After 'parked retry', the processor handles a parked message again when the processor's program starts. "
                    + "While 'parked retry' or 'parked remove' runs, no other program may have the file open.",
            ],
            groups: StoreArguments.groups.map(\.summary),
            examples: [
                .init(
                    "courier store files",
                    "Finds messages of earlier clients, after the program's name or a client id has changed."),
                .init(
                    "courier store count messages.store", "Prints the number of messages for each client and broker."),
                .init("courier store export messages.store > backup.jsonl", "Saves the whole contents of the file."),
                .init(
                    "courier store purge messages.store -i desk --broker localhost:1883",
                    "Removes everything that is stored for the client id desk and this broker."),
                .init(
                    "courier store parked retry messages.store --all --processor orders",
                    "Lets the processor with the name orders handle all its parked messages again."),
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
