import Testing

@testable import CourierCommands

struct ChatInstructionTests {
    @Test(
        arguments: [
            ("hello", .say("hello")), (" /not a command", .say(" /not a command")), ("//etc", .say("/etc")),
            ("", .nothing), ("  \t", .nothing), ("/join tea room", .join("tea room")), ("/join", .join("")),
            ("/leave", .leave(nil)), ("/leave tea", .leave("tea")), ("/me  waves", .act("waves")), ("/me", .nothing),
            ("/rooms", .rooms), ("/who", .who), ("/name ada", .name("ada")), ("/help", .help), ("/quit", .quit),
            ("/dance", .unknown("/dance")), ("/", .unknown("/")),
        ] as [(String, ChatInstruction)])
    func `a typed line is parsed as text or as a chat command`(line: String, instruction: ChatInstruction) {
        #expect(ChatInstruction(line) == instruction)
    }

    @Test func `every command that the chat help lists is recognized`() {
        for (word, argument, _) in ChatInstruction.words {
            let line = argument.isEmpty ? word : "\(word) x"
            if case .unknown = ChatInstruction(line) { Issue.record("\(word)") }
        }
    }
}
