import CourierTransport

/// The text that `courier broker` prints when it starts to listen: its address, its purpose and its limits.
struct BrokerBanner {
    let arguments: BrokerArguments
    let port: UInt16

    var lines: [String] {
        [
            "courier broker listens on \(place).",
            "",
            "This is a small MQTT broker for experiments and tests.",
            "The broker supports MQTT 3.1, 3.1.1 and 5, QoS 0 to 2, retained messages, wills, and shared subscriptions.",
            "Do not use this broker in production. It keeps everything in memory, and loses everything when it ends.",
            "For each offline client, the broker keeps at most 1,000 messages, and drops further messages.",
            "The broker does not support WebSockets, access rules, bridges or statistics.",
            access,
            "",
            "Try:  courier sub \(connection) -t '#' -v",
            "      courier pub \(connection) -t hello -m world",
            "Press Ctrl-C to end the broker.",
        ]
    }

    private var isSecure: Bool { arguments.certificateFile != nil }

    private var place: String {
        if let path = arguments.unixPath { return "the Unix socket \(path)" }
        let host = arguments.host.contains(":") ? "[\(arguments.host)]" : arguments.host
        return "\(isSecure ? "mqtts" : "mqtt")://\(host):\(port)"
    }

    private var access: String {
        let conditions = [
            arguments.authoritiesFile.map { _ in "has a certificate" },
            arguments.username.map { _ in "knows the user name and the password" },
        ].compactMap(\.self)
        let reach = arguments.isLocal ? "on this machine" : "that reaches this machine over the network"
        if !conditions.isEmpty {
            return "Every client \(reach) may connect if it \(conditions.joined(separator: " and "))."
        }
        return "Every client \(reach) may connect, read and write."
            + (arguments.isLocal ? "" : " To require a password, add -u and -P.")
    }

    /// The connection options that a client on this machine needs.
    private var connection: String {
        let isTCP = arguments.unixPath == nil
        let defaultPort: UInt16 = isSecure ? 8_883 : 1_883
        let words: [String?] = [
            arguments.unixPath.map { "--unix \($0)" },
            isTCP && !["127.0.0.1", "0.0.0.0", "::"].contains(arguments.host) ? "-h \(arguments.host)" : nil,
            isTCP && port != defaultPort ? "-p \(port)" : nil, isSecure ? "--cafile CA-FILE" : nil,
            isTCP && port == 8_883 && !isSecure ? "--no-tls" : nil,
            arguments.authoritiesFile.map { _ in "--cert CERT-FILE --key KEY-FILE" },
            arguments.username.map { "-u \($0) -P …" },
        ]
        let text = words.compactMap(\.self).joined(separator: " ")
        return text.isEmpty ? "-p \(port)" : text
    }
}
