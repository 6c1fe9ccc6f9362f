import CourierCore
import Foundation

/// What the command line asks for.
enum Command: Equatable {
    case list(file: URL, Selection)
    case count(file: URL, Selection)
    case export(file: URL, Selection)
    case purge(file: URL, Selection)
    case help
    case selfTest

    static let usage = """
        Lists, counts, exports and removes the messages that CourierSQLite keeps in a file.

          store list <file>    a line for each message, packet id and subscription; no payloads
          store count <file>   a line for each client and broker
          store export <file>  everything as JSON Lines, payloads in Base64
          store purge <file>   removes all of one client, or of all with --all; no process may have the file open

          --client <id>           only of this client
          --broker <host:port>    only for this broker
          --self-test             proves that each command does what it says

        list, count and export change nothing, and may be used while a process has the file open.
        """

    /// Reads the words behind the program's name.
    init(_ words: [String]) throws(CommandError) {
        var (names, client, broker, all): ([String], String?, String?, Bool) = ([], nil, nil, false)
        var rest = words[...]
        while let word = rest.popFirst() {
            switch word {
            case "--help", "-h", "help":
                self = .help
                return
            case "--self-test":
                self = .selfTest
                return
            case "--all": all = true
            case "--client", "--broker":
                guard let value = rest.popFirst() else { throw .usage("\(word) needs a value.") }
                if word == "--client" { client = value } else { broker = value }
            case let option where option.hasPrefix("-"): throw .usage("There is no option \(option).")
            default: names.append(word)
            }
        }
        guard let name = names.first else { throw .usage("Say what to do: list, count, export or purge.") }
        guard ["list", "count", "export", "purge"].contains(name) else {
            throw .usage("There is no command \(name); there are list, count, export and purge.")
        }
        guard names.count == 2 else { throw .usage("\(name) needs one file.") }
        let (file, selection) = (URL(fileURLWithPath: names[1]), Selection(client: client, broker: broker))
        if name == "purge" {
            guard all != (client != nil && broker != nil) else {
                throw .usage("purge needs both --client and --broker, or --all.")
            }
            guard !all || (client == nil && broker == nil) else {
                throw .usage("--all means every client and broker; it goes without --client and --broker.")
            }
        } else if all {
            throw .usage("--all is for purge; \(name) shows all unless told otherwise.")
        }
        switch name {
        case "list": self = .list(file: file, selection)
        case "count": self = .count(file: file, selection)
        case "export": self = .export(file: file, selection)
        default: self = .purge(file: file, selection)
        }
    }
}

/// Whose rows are meant.
struct Selection: Equatable {
    /// `nil` for all clients.
    var client: String?
    /// `nil` for all brokers.
    var broker: String?

    func contains(_ scope: StoreScope) -> Bool {
        (client ?? scope.clientID) == scope.clientID && (broker ?? scope.broker) == scope.broker
    }
}

/// Why nothing was done, for whoever reads the terminal.
enum CommandError: Error {
    /// The words make no command.
    case usage(String)
    /// There is a command, and it can not be carried out.
    case failed(String)
}
