package import CommandArguments
import CourierCore

/// The command-line options of `courier store`.
package struct StoreArguments: Sendable {
    /// The action on a store file. ``files`` needs no file, because it searches for store files.
    package enum Action: String, CaseIterable, Sendable {
        case files, list, count, export, purge
    }

    package var action: Action?
    package var path: String?
    /// If not `nil`, only messages of this client id are selected.
    package var clientID: String?
    /// If not `nil`, only messages for this broker are selected.
    package var broker: String?
    package var isAll = false
    /// True if only rejected messages are selected. A client rejects a message if the broker ended the connection each
    /// time it was sent.
    package var isRejectedOnly = false

    package init() {}

    /// The options, in the groups that the help text shows.
    package static let groups: [OptionGroup<StoreArguments>] = [
        OptionGroup(
            "Whose",
            [
                Option(
                    OptionNames("i", "client"), .one("ID"), "Only messages of this client id.", missing: "client id"
                ) { $0.clientID = $1[0] },
                Option(
                    OptionNames(nil, "broker"), .one("HOST:PORT"), "Only messages for this broker.", missing: "broker"
                ) { $0.broker = $1[0] },
                Option(OptionNames(nil, "all"), "With purge: the messages of every client and broker.") { settings, _ in
                    settings.isAll = true
                },
                Option(
                    OptionNames(nil, "rejected"),
                    "With list, export and purge: only messages that were rejected because the broker ended the connection "
                        + "each time."
                ) { settings, _ in settings.isRejectedOnly = true },
            ]), HelpOptions.group(),
    ]

    /// Stores an argument that is not an option. The first one is the action, and the second one is the path of the
    /// file.
    package mutating func take(_ word: String) throws {
        if action == nil {
            guard let action = Action(rawValue: word) else {
                throw ArgumentError(
                    "There is nothing that is called '\(word)' to do with a store.",
                    hint: "Say files, list, count, export or purge.")
            }
            self.action = action
        } else if path == nil {
            path = word
        } else {
            throw ArgumentError("One file at a time; '\(word)' is too much.")
        }
    }

    /// Checks that the options can be used together. Returns the action and the path of the file. The path is `nil`
    /// only for ``Action/files``.
    ///
    /// - Throws: ``ArgumentError`` if an argument is missing, or if the options for `purge` do not say exactly what to
    ///   remove.
    package func checked() throws(ArgumentError) -> (action: Action, path: String?) {
        guard let action else {
            throw ArgumentError("The action is missing: use files alone, or list, count, export or purge with a file.")
        }
        if action == .files {
            guard path == nil else { throw ArgumentError("files searches for files; it takes no file.") }
        } else if path == nil {
            throw ArgumentError(
                "\(action.rawValue) needs a file, the one of --store.",
                hint: "'courier store files' lists those of clients that were given none.")
        }
        let isChosen = clientID != nil && broker != nil
        if action == .purge, isAll ? clientID != nil || broker != nil : !isChosen {
            throw ArgumentError(
                "purge needs a client and a broker, or --all.",
                hint: "Give both -i and --broker, as 'courier store count' shows them, or --all without them.")
        }
        if action == .count || action == .files, isRejectedOnly {
            throw ArgumentError(
                "--rejected is for list, export and purge.", hint: "\(action.rawValue) shows how many there are.")
        }
        if action != .purge, isAll {
            throw ArgumentError("--all is for purge.", hint: "\(action.rawValue) shows all unless told otherwise.")
        }
        return (action, path)
    }

    /// Returns whether the options select the messages of this client and broker.
    func contains(_ scope: StoreScope) -> Bool {
        (clientID ?? scope.clientID) == scope.clientID && (broker ?? scope.broker) == scope.broker
    }
}
