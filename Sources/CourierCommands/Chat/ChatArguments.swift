package import CommandArguments

/// The command-line options of `courier chat`.
package struct ChatArguments: Sendable {
    package var connection = ConnectionArguments(.requester)
    var name: ChatName?
    var rooms: [ChatName] = []
    package var isPlain = false

    package init() {}

    /// The names of the connection options that `chat` has in common with `pub` and `sub`.
    private static let shared: Set<String> = [
        "-h", "-p", "--unix", "--ws", "--proxy", "-S", "-u", "-P", "-k", "-V", "-i", "--cafile", "--capath", "--cert",
        "--key", "--keyform", "--insecure", "--tls-alpn", "--tls-version", "--tls-use-os-certs", "--no-tls",
    ]

    /// The options, in the groups that the help text shows.
    package static let groups: [OptionGroup<ChatArguments>] =
        [
            OptionGroup(
                "Chat",
                [
                    Option(
                        OptionNames("n", "name"), .one("NAME"), "The name that others see; your user name by default.",
                        missing: "name"
                    ) { $0.name = try name($1[0]) },
                    Option(
                        OptionNames("r", "room"), .one("ROOM"),
                        "A room to join; may be repeated. The default is lobby.", missing: "room"
                    ) {
                        let room = try name($1[0])
                        if !$0.rooms.contains(room) { $0.rooms.append(room) }
                        guard $0.rooms.count <= ChatModel.roomLimit else {
                            throw ArgumentError("You can join at most \(ChatModel.roomLimit) rooms at the same time.")
                        }
                    },
                    Option(
                        OptionNames(nil, "plain"), "Read and write plain lines, even on a terminal."
                    ) { settings, _ in settings.isPlain = true },
                ])
        ] + ConnectionArguments.groups(with: shared).map { $0.part(\.connection) } + [HelpOptions.group()]

    private static func name(_ typed: String) throws(ArgumentError) -> ChatName {
        guard let name = ChatName(typed) else { throw ArgumentError("Invalid name '\(typed)'.", hint: ChatName.rule) }
        return name
    }

    /// Checks that the options can be used together, and sets defaults for missing options.
    ///
    /// - Parameter environment: The environment. `USER` is the default name of the user.
    /// - Throws: The reason why the options cannot be used together.
    package mutating func complete(_ environment: [String: String]) throws {
        try connection.check()
        if connection.clientID?.contains("%") == true {
            throw ArgumentError(
                "The client id of a chat client must not contain %.", hint: "Without -i, chat creates a client id.")
        }
        if let id = connection.clientID, id.utf8.count > ChatMessage.idLimit {
            throw ArgumentError("The client id of a chat client has at most \(ChatMessage.idLimit) bytes.")
        }
        if connection.clientID?.isEmpty != false {
            let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789")
            connection.clientID = "chat-" + String((0..<12).map { _ in letters[Int.random(in: letters.indices)] })
        }
        name = name ?? environment["USER"].flatMap { ChatName($0) } ?? ChatName("guest\(OwnProcess.id)")
        if rooms.isEmpty, let lobby = ChatName("lobby") { rooms = [lobby] }
    }
}
