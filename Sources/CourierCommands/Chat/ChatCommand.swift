package import CommandArguments

/// `courier chat`: rooms to talk in, on any broker.
package struct ChatCommand: CourierCommand {
    package init() {}

    package var summary: CommandSummary {
        CommandSummary(
            name: "chat", abstract: "talk in rooms, and see who is there",
            usage: ["[-h HOST] [-p PORT] [--name NAME] [--room ROOM …] [OPTIONS]"],
            discussion: [
                "On a terminal it takes the whole screen. Enter sends a line, PageUp and PageDown scroll, Up and Down bring "
                    + "earlier lines back, Tab completes, Ctrl-N and Ctrl-P or Alt and a digit change the room, Ctrl-C ends it. "
                    + "A line that the broker has not acknowledged ends with three dots.",
                "Commands: \(Self.commands). A line that begins with // is said with one slash.",
                "Without a terminal, or with --plain, each line of the input is said in the room, or is such a command; what "
                    + "is said by others is printed. It ends behind the last line, when the broker has all of them.",
                "Messages are JSON on courier-chat/rooms/ROOM/messages. Who is there is a retained message on "
                    + "courier-chat/people/ID, which the client's will removes. Everybody on the broker can read both.",
            ],
            groups: ChatArguments.groups.map(\.summary),
            examples: [
                .init("courier chat -h broker.example --name ada", "Talks in the room lobby as ada."),
                .init("courier chat --room news --room tea", "Joins two rooms, and shows the second."),
                .init("echo 'The backup is done.' | courier chat --name backup", "Says one line, and ends."),
            ], exitCodes: ExitCode.meanings)
    }

    private static var commands: String {
        ChatInstruction.words.map { $0.argument.isEmpty ? $0.word : "\($0.word) \($0.argument)" }
            .joined(separator: ", ")
    }

    package func run(_ arguments: [String], _ console: Console) throws -> Int32 {
        var settings = ChatArguments()
        try ArgumentReader(ChatArguments.groups).read(arguments, into: &settings)
        try settings.complete(console.environment)
        return try ChatRun(settings, console).run()
    }
}
