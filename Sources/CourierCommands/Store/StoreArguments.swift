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
            "Selection",
            [
                Option(
                    OptionNames("i", "client"), .one("ID"), "Select only messages of this client id.",
                    missing: "client id"
                ) { $0.clientID = $1[0] },
                Option(
                    OptionNames(nil, "broker"), .one("HOST:PORT"), "Select only messages for this broker.",
                    missing: "broker"
                ) { $0.broker = $1[0] },
                Option(OptionNames(nil, "all"), "With purge: remove the messages of every client and broker.") {
                    settings, _ in
                    settings.isAll = true
                },
                Option(
                    OptionNames(nil, "rejected"),
                    "With list, export and purge: select only rejected messages. "
                        + "A message is rejected if the broker ends the connection each time it is sent."
                ) { settings, _ in settings.isRejectedOnly = true },
            ]), HelpOptions.group(),
    ]

    /// Stores an argument that is not an option. The first one is the action, and the second one is the path of the
    /// file.
    package mutating func take(_ word: String) throws {
        if action == nil {
            guard let action = Action(rawValue: word) else {
                throw ArgumentError(
                    "'\(word)' is not an action of 'courier store'.",
                    hint: "Use files, list, count, export or purge.")
            }
            self.action = action
        } else if path == nil {
            path = word
        } else {
            throw ArgumentError("Only one file can be given. Remove '\(word)'.")
        }
    }

    /// Checks that the options can be used together. Returns the action and the path of the file. The path is `nil`
    /// only for ``Action/files``.
    ///
    /// - Throws: ``ArgumentError`` if an argument is missing, or if the options for `purge` do not say exactly what to
    ///   remove.
    package func checked() throws(ArgumentError) -> (action: Action, path: String?) {
        guard let action else {
            throw ArgumentError("The action is missing. Use files, or use list, count, export or purge with a file.")
        }
        if action == .files {
            guard path == nil else {
                throw ArgumentError("The action files takes no file, because it searches for files.")
            }
        } else if path == nil {
            throw ArgumentError(
                "The action \(action.rawValue) needs a file, such as the file of --store.",
                hint: "'courier store files' lists the message files in the default folder.")
        }
        let isChosen = clientID != nil && broker != nil
        if action == .purge, isAll ? clientID != nil || broker != nil : !isChosen {
            throw ArgumentError(
                "purge needs a client and a broker, or --all.",
                hint: "Give --all, or both -i and --broker. 'courier store count' shows their values.")
        }
        if action == .count || action == .files, isRejectedOnly {
            throw ArgumentError(
                "--rejected can only be used with list, export and purge.",
                hint: "\(action.rawValue) always shows the number of rejected messages.")
        }
        if action != .purge, isAll {
            throw ArgumentError(
                "--all can only be used with purge.",
                hint: "Without -i and --broker, \(action.rawValue) includes all clients and brokers.")
        }
        return (action, path)
    }

    /// Returns whether the options select the messages of this client and broker.
    func contains(_ scope: StoreScope) -> Bool {
        (clientID ?? scope.clientID) == scope.clientID && (broker ?? scope.broker) == scope.broker
    }
}
