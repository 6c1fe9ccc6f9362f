package import CommandArguments
import CourierCore

/// The command line of `courier store`.
package struct StoreArguments: Sendable {
    /// What is done with the file; ``files`` looks for files.
    package enum Action: String, CaseIterable, Sendable {
        case files, list, count, export, purge
    }

    package var action: Action?
    package var path: String?
    /// Only of this client; `nil` for all.
    package var clientID: String?
    /// Only for this broker; `nil` for all.
    package var broker: String?
    package var isAll = false
    /// Only the messages that clients gave up because the broker ended the connection for them.
    package var isRejectedOnly = false

    package init() {}

    /// Its options.
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

    /// Reads what is no option: what to do, and the file.
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

    /// What to do with which file; there is a file for each action but ``Action/files``.
    ///
    /// - Throws: ``ArgumentError`` when something is missing, or when purge is not told exactly what to remove.
    package func checked() throws(ArgumentError) -> (action: Action, path: String?) {
        guard let action else {
            throw ArgumentError("Say what to do: files, or list, count, export or purge and with which file.")
        }
        if action == .files {
            guard path == nil else { throw ArgumentError("files looks for files itself; it takes none.") }
        } else if path == nil {
            throw ArgumentError(
                "\(action.rawValue) needs a file, the one of --store.",
                hint: "'courier store files' lists those of clients that were given none.")
        }
        let isChosen = clientID != nil && broker != nil
        if action == .purge, isAll ? clientID != nil || broker != nil : !isChosen {
            throw ArgumentError(
                "purge has to know exactly what to remove.",
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

    /// Whether something of a client and a broker is meant.
    func contains(_ scope: StoreScope) -> Bool {
        (clientID ?? scope.clientID) == scope.clientID && (broker ?? scope.broker) == scope.broker
    }
}
