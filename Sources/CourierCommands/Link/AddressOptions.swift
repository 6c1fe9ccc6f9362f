import CommandArguments

/// The options that commands for examining a broker share with `pub` and `sub`: the broker's address, the credentials
/// and TLS.
enum AddressOptions {
    private static let names: Set<String> = [
        "-h", "-p", "--unix", "--proxy", "-u", "-P", "--cafile", "--capath", "--cert", "--key", "--keyform",
        "--insecure", "--tls-alpn", "--tls-version", "--tls-use-os-certs", "--no-tls",
    ]

    /// The options, in the groups that the help text shows.
    static var groups: [OptionGroup<ConnectionArguments>] { ConnectionArguments.groups(with: names) }

    /// Returns the option `-L`. `command` is the name of the command in the error message.
    static func url(for command: String) -> Option<ConnectionArguments> {
        Option(
            OptionNames("L", "url"), .one("URL"),
            "Host, port, user and password as a URL: mqtt(s)://[user[:password]@]host[:port]. A topic is ignored.",
            missing: "URL"
        ) {
            // `BrokerURL` requires a topic after the address. So a slash is added, which starts an empty topic.
            let url = try BrokerURL($1[0] + "/")
            if url.isWebSocket {
                throw ArgumentError(
                    "\(command) cannot examine WebSocket connections.", hint: "Use mqtt:// or mqtts://.")
            }
            $0.applyPlace(of: url)
        }
    }
}
