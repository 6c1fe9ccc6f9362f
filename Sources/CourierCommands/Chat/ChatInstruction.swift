/// The meaning of a typed line: a command or a text.
enum ChatInstruction: Hashable, Sendable {
    case say(String)
    case act(String)
    case join(String)
    /// Leave a room; without a name, the shown room.
    case leave(String?)
    case rooms
    case who
    case name(String)
    case help
    case quit
    /// The line begins with a slash, but the word after the slash is not a known command.
    case unknown(String)
    case nothing

    /// The commands with their arguments and meanings.
    static let words: [(word: String, argument: String, meaning: String)] = [
        ("/join", "ROOM", "join a room, or show a joined room"), ("/leave", "[ROOM]", "leave a room"),
        ("/rooms", "", "list your rooms"), ("/who", "", "list the people in this room"),
        ("/me", "TEXT", "send a line that describes what you do"), ("/name", "NAME", "change your name"),
        ("/help", "", "list the commands"),
        ("/quit", "", "leave all rooms and end the program"),
    ]

    /// Reads a typed line. A line that begins with two slashes is a text that begins with one slash.
    init(_ line: String) {
        if line.hasPrefix("//") {
            self = .say(String(line.dropFirst()))
            return
        }
        guard line.hasPrefix("/") else {
            self = line.allSatisfy(\.isWhitespace) ? .nothing : .say(line)
            return
        }
        let word = line.prefix { !$0.isWhitespace }
        let rest = line.dropFirst(word.count).drop(while: \.isWhitespace)
        let argument = String(rest)
        switch word {
        case "/join": self = .join(argument)
        case "/leave", "/part": self = .leave(argument.isEmpty ? nil : argument)
        case "/rooms": self = .rooms
        case "/who": self = .who
        case "/me": self = argument.isEmpty ? .nothing : .act(argument)
        case "/name", "/nick": self = .name(argument)
        case "/help": self = .help
        case "/quit", "/exit": self = .quit
        default: self = .unknown(String(word))
        }
    }
}
