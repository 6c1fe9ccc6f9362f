package import CommandArguments
import CourierCore

/// The command-line options of `courier broker`.
package struct BrokerArguments: Sendable, Equatable {
    package var host = "127.0.0.1"
    package var port: UInt16 = 1_883
    package var unixPath: String?
    package var username: String?
    package var password: String?
    package var certificateFile: String?
    package var keyFile: String?
    package var authoritiesFile: String?

    package init() {}

    /// The options, in the groups that the help text shows.
    package static let groups: [OptionGroup<BrokerArguments>] = [
        OptionGroup(
            "Listening address",
            [
                Option(
                    OptionNames("p", "port"), .one("PORT"),
                    "The port to listen on; 1883 by default, 0 for a free port.",
                    missing: "port"
                ) {
                    guard let port = UInt16($1[0]) else { throw ArgumentError("Invalid port given: \($1[0])") }
                    $0.port = port
                },
                Option(
                    OptionNames("h", "host"), .one("ADDRESS"),
                    "The address of this machine to listen on. "
                        + "With the default 127.0.0.1, only programs on this machine can connect.", missing: "host"
                ) { $0.host = $1[0] == "localhost" ? "127.0.0.1" : $1[0] },
                Option(
                    OptionNames(nil, "unix"), .one("PATH", .files), "Listen on this Unix socket instead of a port.",
                    missing: "socket path"
                ) { $0.unixPath = $1[0] },
            ]),
        OptionGroup(
            "Access",
            [
                Option(
                    OptionNames("u", "username"), .one("NAME"), "The user name that clients must send. Needs -P.",
                    missing: "username"
                ) { $0.username = $1[0] },
                Option(
                    OptionNames("P", "pw"), .one("PASSWORD"),
                    "The password that clients must send. Other users of this machine can see the password.",
                    missing: "password"
                ) { $0.password = $1[0] },
            ]),
        OptionGroup(
            "TLS",
            [
                Option(
                    OptionNames(nil, "cert"), .one("FILE", .files), "Use TLS with this certificate.",
                    missing: "file"
                ) { $0.certificateFile = $1[0] },
                Option(OptionNames(nil, "key"), .one("FILE", .files), "The private key of --cert.", missing: "file") {
                    $0.keyFile = $1[0]
                },
                Option(
                    OptionNames(nil, "cafile"), .one("FILE", .files),
                    "Accept only clients whose certificate is signed by an authority in this file.", missing: "file"
                ) { $0.authoritiesFile = $1[0] },
            ]),
        HelpOptions.group(),
    ]

    /// True if only programs on this machine can connect.
    package var isLocal: Bool { unixPath != nil || host.isLoopbackHost }

    /// Checks that no option is used without another option that it needs.
    package func check() throws(ArgumentError) {
        if (username == nil) != (password == nil) {
            throw ArgumentError("Both -u and -P must be provided if one of them is set.")
        }
        if (certificateFile == nil) != (keyFile == nil) {
            throw ArgumentError("Both --cert and --key must be provided if one of them is set.")
        }
        if authoritiesFile != nil, certificateFile == nil {
            throw ArgumentError("--cafile needs TLS, but the broker does not use TLS.", hint: "Add --cert and --key.")
        }
    }
}
