package import CommandArguments

/// The command `courier chat`: chat rooms on any MQTT broker.
package struct ChatCommand: CourierCommand {
    package init() {}

    package var summary: CommandSummary {
        CommandSummary(
            name: "chat", abstract: "chat in rooms, and see who is online",
            usage: ["[-h HOST] [-p PORT] [--name NAME] [--room ROOM …] [OPTIONS]"],
            discussion: [
                "On a terminal, chat uses the whole screen. Enter sends a line, PageUp and PageDown scroll, Up and Down show "
                    + "earlier lines, Tab completes, Ctrl-N and Ctrl-P or Alt and a digit change the room, Ctrl-C ends it. "
                    + "A line that the broker has not acknowledged ends with three dots.",
                "Commands: \(Self.commands). A line that begins with // is sent with one slash.",
                "Without a terminal, or with --plain, each line of the input is sent to the room, or is a command. Lines of "
                    + "other people are printed. The program ends when the broker has acknowledged the last line.",
                "Messages are JSON on courier-chat/rooms/ROOM/messages. Each person online has a retained message on "
                    + "courier-chat/people/ID, which the client's will removes. Every client of the broker can read both topics.",
            ],
            groups: ChatArguments.groups.map(\.summary),
            examples: [
                .init("courier chat -h broker.example --name ada", "Chats in the room lobby as ada."),
                .init("courier chat --room news --room tea", "Joins two rooms, and shows the second one first."),
                .init("echo 'The backup is done.' | courier chat --name backup", "Sends one line, and ends."),
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
