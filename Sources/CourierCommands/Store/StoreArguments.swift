package import CommandArguments
package import CourierCore

/// The command-line options of `courier store`.
package struct StoreArguments: Sendable {
    /// The action on a store file. ``files`` needs no file, because it searches for store files.
    package enum Action: String, CaseIterable, Sendable {
        case files, list, count, export, purge, parked
    }

    /// The action of `courier store parked` on parked messages.
    package enum ParkedAction: String, CaseIterable, Sendable {
        case list, show, export, retry, remove
    }

    package var action: Action?
    /// The action on parked messages, for ``Action/parked``.
    package var parkedAction: ParkedAction?
    /// The id of a parked message.
    package var messageID: StoredMessage.ID?
    /// If not `nil`, only messages of the processor with this name are selected.
    package var processor: String?
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
                Option(
                    OptionNames(nil, "processor"), .one("NAME"),
                    "With 'parked': select only messages of the processor with this name.", missing: "name"
                ) { $0.processor = $1[0] },
                Option(
                    OptionNames(nil, "all"),
                    "With 'purge': remove the messages of every client and broker. "
                        + "With 'parked retry' and 'parked remove': select every parked message."
                ) { settings, _ in settings.isAll = true },
                Option(
                    OptionNames(nil, "rejected"),
                    "With 'list', 'export' and 'purge': select only rejected messages. "
                        + "A message is rejected if the broker ends the connection each time the message is sent."
                ) { settings, _ in settings.isRejectedOnly = true },
            ]), HelpOptions.group(),
    ]

    /// Stores an argument that is not an option. The first one is the action, and the second one is the path of the
    /// file. After `parked`, the arguments are: the action on parked messages, the path of the file, and a message id.
    package mutating func take(_ word: String) throws {
        if action == nil {
            guard let action = Action(rawValue: word) else {
                throw ArgumentError(
                    "'\(word)' is not an action of 'courier store'.",
                    hint: "Use files, list, count, export, purge or parked.")
            }
            self.action = action
        } else if action == .parked, parkedAction == nil {
            guard let action = ParkedAction(rawValue: word) else {
                throw ArgumentError(
                    "'\(word)' is not an action of 'courier store parked'.",
                    hint: "Use list, show, export, retry or remove.")
            }
            parkedAction = action
        } else if path == nil {
            path = word
        } else if action == .parked, messageID == nil {
            guard let id = UInt64(word) else {
                throw ArgumentError(
                    "'\(word)' is not the id of a message.", hint: "'courier store parked list' shows the ids.")
            }
            messageID = StoredMessage.ID(rawValue: id)
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
            throw ArgumentError(
                "The action is missing. Use files, or use list, count, export, purge or parked with a file.")
        }
        if action == .files {
            guard path == nil else {
                throw ArgumentError(
                    "'courier store files' takes no file argument, because the command searches for files.")
            }
        } else if action == .parked, parkedAction == nil {
            throw ArgumentError(
                "'courier store parked' needs an action and a file.", hint: "Use list, show, export, retry or remove.")
        } else if path == nil {
            throw ArgumentError(
                "'courier store \(action.rawValue)' needs a file, such as the file that --store created.",
                hint: "'courier store files' lists the message files in the default folder.")
        }
        let isChosen = clientID != nil && broker != nil
        if action == .purge, isAll ? clientID != nil || broker != nil : !isChosen {
            throw ArgumentError(
                "'courier store purge' needs a client id and a broker, or --all.",
                hint: "Give --all, or both -i and --broker. 'courier store count' shows the client ids and the brokers."
            )
        }
        if action == .count || action == .files, isRejectedOnly {
            throw ArgumentError(
                "--rejected can only be used with list, export and purge.",
                hint: "\(action.rawValue) always shows the number of rejected messages.")
        }
        if action == .parked {
            try checkParked()
            return (action, path)
        }
        if processor != nil {
            throw ArgumentError(
                "--processor can only be used with 'courier store parked'.",
                hint: "Use 'courier store parked list' with the file.")
        }
        if action != .purge, isAll {
            throw ArgumentError(
                "--all can only be used with purge.",
                hint: "Without -i and --broker, \(action.rawValue) includes all clients and brokers.")
        }
        return (action, path)
    }

    /// Checks the arguments of `courier store parked`.
    private func checkParked() throws(ArgumentError) {
        guard let parkedAction else { return }
        if isRejectedOnly {
            throw ArgumentError(
                "--rejected cannot be used with 'courier store parked'.",
                hint: "Use 'courier store list --rejected' with the file.")
        }
        switch parkedAction {
        case .list, .export:
            guard messageID == nil, !isAll else {
                throw ArgumentError(
                    "'courier store parked \(parkedAction.rawValue)' takes no message id and no --all.",
                    hint: "Use -i, --broker or --processor to select fewer parked messages."
                )
            }
        case .show:
            guard messageID != nil, !isAll else {
                throw ArgumentError(
                    "'courier store parked show' needs the id of one message.",
                    hint: "'courier store parked list' shows the ids.")
            }
        case .retry, .remove:
            guard (messageID != nil) != isAll else {
                throw ArgumentError(
                    "'courier store parked \(parkedAction.rawValue)' needs either the id of one message or --all.",
                    hint: "'courier store parked list' shows the ids.")
            }
        }
    }

    /// Returns whether the options select the messages of this client and broker.
    func contains(_ scope: StoreScope) -> Bool {
        (clientID ?? scope.clientID) == scope.clientID && (broker ?? scope.broker) == scope.broker
    }

    /// Returns whether the options select this job: it is parked, and belongs to the processor.
    func contains(_ job: StoredJob) -> Bool {
        job.state.isParked && (processor ?? job.state.processor) == job.state.processor
            && (messageID ?? job.message.id) == job.message.id
    }
}
