package import CommandArguments

/// The command `courier chat`: chat rooms on any MQTT broker.
package struct ChatCommand: CourierCommand {
    package init() {}

    package var summary: CommandSummary {
        CommandSummary(
            name: "chat", abstract: "chat in rooms, and see who is online",
            usage: ["[-h HOST] [-p PORT] [--name NAME] [--room ROOM …] [OPTIONS]"],
            discussion: [
                "On a terminal, chat uses the whole screen. Enter sends a line. PageUp and PageDown scroll. "
                    + "Up and Down show lines that you entered earlier. Tab completes commands and names. "
                    + "Ctrl-N and Ctrl-P, or Alt and a digit, change the room. Ctrl-C ends the program. "
                    + "If the broker has not acknowledged a line, three dots follow the line. "
                    + "When the program ends, even after a signal or a crash, it restores the terminal.",
                "At its end, the program waits up to 2 seconds for acknowledgements. "
                    + "If lines remain, the program prints their number, and the exit code is 1.",
                "Lines that others write while you have no connection are lost. "
                    + "With nohup, the program continues after its terminal has closed.",
                "Commands: \(Self.commands). A line that begins with // is sent as a message with one slash.",
                "Without a terminal, or with --plain, each line of the input is a message to the room, or a command. "
                    + "The program prints the messages of other people. "
                    + "The program ends when the broker has acknowledged the last line.",
                "Messages are sent as JSON to the topic courier-chat/rooms/ROOM/messages. "
                    + "Each person online has a retained message on courier-chat/people/ID. "
                    + "The will of the person's client removes the retained message. "
                    + "Every client of the broker can read both topics.",
            ],
            groups: ChatArguments.groups.map(\.summary),
            examples: [
                .init("courier chat -h broker.example --name ada", "Joins the default room, lobby, with the name ada."),
                .init("courier chat --room news --room tea", "Joins two rooms, and shows the second room first."),
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
