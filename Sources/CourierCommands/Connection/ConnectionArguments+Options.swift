package import CommandArguments
import CourierCore
import CourierMQTT
import CourierTransport
import MQTTCodec

/// The connection options of all commands, with the letters and meanings of the mosquitto clients.
extension ConnectionArguments {
    /// The options for the server, the credentials and the protocol.
    package static var groups: [OptionGroup<ConnectionArguments>] {
        [
            OptionGroup("Connection", connection), OptionGroup("Session", session), OptionGroup("Will", will),
            OptionGroup("TLS", tls), OptionGroup("General", general),
        ]
    }

    private static let connection: [Option<Self>] = [
        Option(
            OptionNames("h", "host"), .one("HOST"), "The broker's host name or address; localhost by default.",
            missing: "host"
        ) { $0.host = $1[0] },
        Option(
            OptionNames("p", "port"), .one("PORT"), "The broker's port; 1883 by default, 8883 with TLS.",
            missing: "port"
        ) {
            let port = NumberText.whole($1[0])
            guard (0...65_535).contains(port) else { throw ArgumentError("Invalid port given: \(port)") }
            $0.port = port
        },
        Option(
            OptionNames("L", "url"), .one("URL"),
            "Host, port, user, password, topic as a URL: mqtt(s)://[user[:password]@]host[:port]/topic, or ws(s)://.",
            missing: "URL"
        ) { try $0.apply(BrokerURL($1[0])) },
        Option(
            OptionNames(nil, "unix"), .one("PATH", .files), "Connect to this Unix socket instead of a host and port.",
            missing: "socket path"
        ) {
            $0.unixPath = $1[0]
        },
        Option(OptionNames(nil, "ws"), "Use MQTT over WebSocket.") { settings, _ in
            settings.transport = .webSocket
        },
        Option(
            OptionNames(nil, "proxy"), .one("URL"),
            "Connect through this proxy: socks5h://[user[:password]@]host[:port], or http://.", missing: "proxy url"
        ) { $0.proxy = try proxy($1[0]) },
        Option(
            OptionNames("A"), .one("ADDRESS"), "The local IP address that connections use.",
            missing: "address"
        ) {
            do throws(TransportError) {
                $0.localBinding = LocalBinding(
                    address: try LocalBinding(lookingUp: $1[0]).address, interface: $0.localBinding?.interface)
            } catch {
                throw ArgumentError("Invalid local address given: \(error.message).")
            }
        },
        Option(
            OptionNames(nil, "interface"), .one("NAME"),
            "The network interface that connections use, such as eth0.", missing: "interface"
        ) {
            let binding = LocalBinding(address: $0.localBinding?.address, interface: $1[0])
            if let problem = binding.problem { throw ArgumentError("Invalid interface given: \(problem).") }
            $0.localBinding = binding
        },
        Option(
            OptionNames("S"), "Look up the host's SRV records in DNS, and connect to the servers in these records."
        ) { settings, _ in settings.usesServiceRecords = true },
        Option(OptionNames("u", "username"), .one("NAME"), "The user name.", missing: "username") {
            $0.username = $1[0]
        },
        Option(
            OptionNames("P", "pw"), .one("PASSWORD"),
            "The password. Other users of this machine can see it. To hide it, use a configuration file (-o).",
            missing: "password"
        ) { $0.password = $1[0] },
        Option(
            OptionNames("k", "keepalive"), .one("SECONDS"),
            "Seconds without traffic after which a PINGREQ is sent; 60 by default.",
            missing: "keepalive"
        ) {
            guard let seconds = UInt16(exactly: NumberText.whole($1[0])), seconds >= 5 else {
                throw ArgumentError("Invalid keepalive given, it must be between 5 and 65535 inclusive.", blankLines: 2)
            }
            $0.keepAlive = seconds
        },
        Option(
            OptionNames("V", "protocol-version"), .one("VERSION", .words(["mqttv31", "mqttv311", "mqttv5"])),
            "The MQTT version: mqttv311 (311), mqttv5 (5), or mqttv31 (31) for old brokers.",
            missingText: "--protocol-version argument given but no version specified."
        ) {
            switch $1[0] {
            case "mqttv31", "31": $0.version = .v31
            case "mqttv311", "311": $0.version = .v311
            case "mqttv5", "5": $0.version = .v5
            default: throw ArgumentError("Invalid protocol version argument given.", blankLines: 2)
            }
        },
        Option(
            OptionNames(nil, "disconnect-reason"), .one("CODE"),
            "The reason code of DISCONNECT: 0 (default), 4 to have the will published, or an error code such as 0x98. "
                + "Before MQTT 5, every code except 0 closes the connection without DISCONNECT.",
            missing: "reason code"
        ) { $0.disconnectReason = try reason($1[0]) },
        Option(OptionNames(nil, "nodelay"), "Send small packets at once. courier always does so.") {
            _, _ in
            // The SDK sets TCP_NODELAY on every connection, so this option changes nothing.
        },
    ]

    private static let session: [Option<Self>] = [
        Option(
            OptionNames("i", "id"), .one("ID"), "The client id. By default, the broker chooses it.", missing: "id"
        ) {
            if $0.clientIDPrefix != nil { throw bothIDs }
            $0.clientID = $1[0]
        },
        Option(
            OptionNames("I", "id-prefix"), .one("PREFIX"), "The client id is this prefix followed by the process id.",
            missing: "id prefix"
        ) {
            if $0.clientID != nil { throw bothIDs }
            $0.clientIDPrefix = $1[0]
        },
        Option(
            OptionNames("c", "disable-clean-session"),
            "Continue the session of an earlier connection. The broker keeps the session when the connection ends."
        ) { settings, _ in settings.isCleanSession = false },
        Option(
            OptionNames("x"), .one("SECONDS"),
            "How many seconds the broker keeps the session after the connection ends (MQTT 5); -1 means forever.",
            missing: "session expiry interval"
        ) {
            $0.sessionExpiry = try expiry($1[0])
            $0.version = .v5
        },
        Option(
            OptionNames("M"), .one("COUNT"), "The maximum number of unacknowledged messages; 20 by default.",
            missingText: "-M argument given but max_inflight not specified."
        ) {
            let count = NumberText.whole($1[0])
            guard count >= 1 else {
                throw ArgumentError("Maximum inflight messages must be greater than 0.", blankLines: 2)
            }
            $0.maximumInFlight = min(count, 65_535)
        },
        Option(
            OptionNames("D", "property"),
            .several(["COMMAND", "NAME", "VALUE"], .words(PropertyArguments.Command.allCases.map(\.rawValue))) {
                PropertyArguments.wordCount($0)
            },
            "An MQTT 5 property, such as -D publish content-type text/plain. user-property takes a name and a value. "
                + "A topic alias above the maximum of the broker is not used. "
                + "The property server-reference is refused, because only a broker may send it.",
            missingText: "--property argument given but not enough arguments specified."
        ) {
            try $0.properties.add($1)
            $0.version = .v5
        },
    ]

    /// Reads the code of `--disconnect-reason`.
    private static func reason(_ text: String) throws(ArgumentError) -> ReasonCode {
        let number = text.hasPrefix("0x") ? UInt8(text.dropFirst(2), radix: 16) : UInt8(text)
        guard let number, PacketReasonCode(rawValue: number)?.isAllowed(in: .disconnect, from: .client) == true else {
            throw ArgumentError(
                "Invalid disconnect reason given: \(text). "
                    + "Use 0, 4, or an error code that a client may send in DISCONNECT (MQTT 5), such as 0x80 or 0x98.")
        }
        return ReasonCode(rawValue: number)
    }

    /// Reads the proxy of `--proxy`.
    private static func proxy(_ url: String) throws(ArgumentError) -> ProxyConfiguration {
        guard let scheme = ["socks5h://", "socks5://", "http://"].first(where: url.hasPrefix) else {
            throw ArgumentError("Unsupported proxy protocol: \(url)")
        }
        let place = url.dropFirst(scheme.count).split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        if place.isEmpty { throw ArgumentError("Invalid proxy.") }
        // A colon inside the brackets of an IPv6 address does not start a port number.
        if let colon = place.lastIndex(of: ":"), !place[colon...].contains("]") {
            let port = NumberText.whole(String(place[place.index(after: colon)...]))
            guard (1...65_535).contains(port) else { throw ArgumentError("Invalid proxy port \(port)") }
        }
        do throws(TransportError) {
            return try ProxyConfiguration(url: url)
        } catch {
            throw ArgumentError("Invalid proxy: \(error.message).")
        }
    }

    private static let bothIDs = ArgumentError("-i and -I argument cannot be used together.", blankLines: 2)

    private static func expiry(_ text: String) throws -> UInt32 {
        if text == "∞" { return .max }
        guard let number = WholeNumber.value(text) else {
            throw ArgumentError("session-expiry-interval not a number.", blankLines: 2)
        }
        guard (-1...Int(UInt32.max)).contains(number) else {
            throw ArgumentError("session-expiry-interval out of range.", blankLines: 2)
        }
        return UInt32(truncatingIfNeeded: number)  // -1 becomes 0xFFFFFFFF: the session never expires.
    }

    private static let will: [Option<Self>] = [
        Option(
            OptionNames(nil, "will-topic"), .one("TOPIC"),
            "The topic of the will. The broker publishes the will when the connection to this client is lost.",
            missing: "will topic"
        ) {
            try MalformedText.check($1[0], of: "--will-topic")
            guard (try? TopicName($1[0])) != nil else {
                throw ArgumentError("Invalid will topic '\($1[0])', does it contain '+' or '#'?")
            }
            $0.will.topic = $1[0]
        },
        Option(
            OptionNames(nil, "will-payload"), .one("TEXT"), "The payload of the will; empty by default.",
            missing: "will payload"
        ) { $0.will.payload = $1[0] },
        Option(
            OptionNames(nil, "will-qos"), .one("QOS", .words(["0", "1", "2"])), "The QoS of the will.",
            missing: "will QoS"
        ) {
            let qos = NumberText.whole($1[0])
            guard (0...2).contains(qos) else { throw ArgumentError("Invalid will QoS \(qos).", blankLines: 2) }
            $0.will.qos = qos
        },
        Option(OptionNames(nil, "will-retain"), "The broker keeps the will for later subscribers.") { settings, _ in
            settings.will.isRetained = true
        },
    ]

    private static let tls: [Option<Self>] = [
        Option(
            OptionNames(nil, "cafile"), .one("FILE", .files),
            "Use TLS, and trust the certificate authorities in this file.",
            missing: "file"
        ) { $0.tls.authoritiesFile = $1[0] },
        Option(
            OptionNames(nil, "capath"), .one("FOLDER", .folders),
            "Use TLS, and trust the certificate authorities in this folder (prepared by `openssl rehash`).",
            missing: "directory"
        ) { $0.tls.authoritiesFolder = $1[0] },
        Option(OptionNames(nil, "cert"), .one("FILE", .files), "The client's certificate.", missing: "file") {
            $0.tls.certificateFile = $1[0]
        },
        Option(
            OptionNames(nil, "key"), .one("FILE", .files),
            "The private key of --cert. With --keyform engine: the URI of a hardware key, such as pkcs11:object=key.",
            missing: "file"
        ) {
            $0.tls.keyFile = $1[0]
        },
        Option(
            OptionNames(nil, "keyform"), .one("FORM", .words(["pem", "engine"])),
            "Where the private key is stored: pem for a file, or engine for hardware.",
            missing: "keyform"
        ) { $0.tls.keyForm = $1[0] },
        Option(
            OptionNames(nil, "insecure"),
            "DANGER: turns off the check that the certificate belongs to this host. "
                + "Any certificate of a trusted authority is then accepted."
        ) { settings, _ in settings.tls.isInsecure = true },
        Option(
            OptionNames(nil, "tls-alpn"), .one("PROTOCOL"),
            "The application protocol that the client offers in TLS (ALPN).",
            missing: "protocol"
        ) { $0.tls.applicationProtocol = $1[0] },
        Option(
            OptionNames(nil, "tls-version"), .one("VERSION", .words(["tlsv1.2", "tlsv1.3"])),
            "The lowest allowed TLS version: tlsv1.2 or tlsv1.3; tlsv1.2 by default.", missing: "version"
        ) { $0.tls.version = $1[0] },
        Option(
            OptionNames(nil, "ciphers"), .one("LIST"),
            "The cipher suites to offer for TLS 1.2. `openssl ciphers -v LIST` prints the suites in LIST.",
            missing: "ciphers"
        ) { $0.tls.ciphers = $1[0] },
        Option(
            OptionNames(nil, "tls-use-os-certs"),
            "Use TLS, and trust the certificate authorities of the operating system."
        ) { settings, _ in settings.tls.usesSystemAuthorities = true },
        Option(OptionNames(nil, "no-tls"), "Do not use TLS, even if other options imply TLS.") { settings, _ in
            settings.tls.isOff = true
        },
        Option(
            OptionNames(nil, "psk"), .one("KEY"),
            "Use TLS with this pre-shared key, in hexadecimal digits, instead of certificates. Needs --psk-identity.",
            missing: "key"
        ) { $0.tls.preSharedKey = $1[0] },
        Option(
            OptionNames(nil, "psk-identity"), .one("NAME"), "The name by which the broker finds the key of --psk.",
            missing: "identity"
        ) { $0.tls.preSharedKeyIdentity = $1[0] },
        Option(
            OptionNames(nil, "tls-engine"), .one("NAME", .words(["pkcs11"])),
            "The OpenSSL engine that holds the private key: only pkcs11. Needs --keyform engine.", missing: "engine_id"
        ) { $0.tls.engine = $1[0] },
        .refused(
            OptionNames(nil, "tls-engine-kpass-sha1"), .one("HASH"), "The password hash for the engine's key.",
            hint: "Put the PIN into the URI of --key: pkcs11:…?pin-value=1234.", missing: "kpass sha1"
        ) {
            $0.tls.hasEnginePassword = true
            $0.refusals.append($1)
        },
        Option(
            OptionNames(nil, "tls-keylog"), .one("FILE", .files),
            "DANGER: appends the TLS keys to this file. Anyone with this file can decrypt recorded traffic.",
            missing: "file"
        ) { $0.tls.keyLogFile = $1[0] },
    ]

    private static let general: [Option<Self>] = [
        Option(OptionNames("d", "debug"), "Print every packet.") { settings, _ in settings.isDebugging = true },
        Option(OptionNames(nil, "quiet"), "Print no errors.") { settings, _ in settings.isQuiet = true },
        Option(
            OptionNames("o"), .one("FILE", .files), "First read options from this file. Each line has one option.",
            missingText: "-o argument given but no options file specified."
        ) {
            guard $0.optionsFile == nil else { throw ArgumentError("Duplicate -o argument given.") }
            $0.optionsFile = $1[0]
        },
        Option(
            OptionNames(nil, "store"), .one("FILE", .files),
            "Keep messages of QoS 1 and 2 in this file until they are delivered. "
                + "The messages survive the end of the program, even kill -9.",
            missing: "file"
        ) { $0.storePath = $1[0] },
        Option(
            OptionNames(nil, "inspect"),
            "Show all packets on a web page, the inspector. Its address is printed to standard error."
        ) { settings, _ in settings.isInspected = true },
    ]

    /// Declares the option `-q` with the help text of one command.
    package static func qos(_ help: String) -> Option<Self> {
        Option(OptionNames("q", "qos"), .one("QOS", .words(["0", "1", "2"])), help, missing: "QoS") {
            let qos = NumberText.whole($1[0])
            guard (0...2).contains(qos) else { throw ArgumentError("Invalid QoS given: \(qos)") }
            $0.qos = qos
        }
    }

    /// Declares the option `-t` with the help text of one command.
    package static func topic(_ help: String) -> Option<Self> {
        Option(OptionNames("t", "topic"), .one("TOPIC"), help, missing: "topic") { try $0.add(topic: $1[0]) }
    }

    /// The MQTT 5 subscription options. They have no effect in older versions, as in the mosquitto clients.
    package static let subscription: [Option<Self>] = [
        Option(
            OptionNames(nil, "retain-handling"), .one("WHEN", .words(["always", "new", "never"])),
            "When the broker sends retained messages (MQTT 5): always, only for a new subscription, or never.",
            missing: "option"
        ) {
            switch $1[0] {
            case "always": $0.subscriptionOptions.retainedMessages = .always
            case "new": $0.subscriptionOptions.retainedMessages = .ofNewSubscriptions
            case "never": $0.subscriptionOptions.retainedMessages = .never
            default: throw ArgumentError("Unknown value '\($1[0])' for --retain-handling.")
            }
        },
        Option(
            OptionNames(nil, "retain-as-published"),
            "Received messages keep the retain flag that their publisher set (MQTT 5)."
        ) { settings, _ in settings.subscriptionOptions.keepsRetainFlag = true },
    ]

    /// Adds a topic to publish or subscribe to.
    mutating func add(topic: String, of argument: String = "-t") throws {
        try MalformedText.check(topic, of: argument)
        switch role {
        case .publisher, .requester:
            guard (try? TopicName(topic)) != nil else {
                throw ArgumentError("Invalid publish topic '\(topic)', does it contain '+' or '#'?")
            }
            topics = [topic]
        case .subscriber:
            guard (try? TopicFilter(topic)) != nil else {
                throw ArgumentError(
                    "Invalid subscription topic '\(topic)', are all '+' and '#' wildcards correct?")
            }
            topics.append(topic)
        }
    }

    private mutating func apply(_ url: BrokerURL) throws {
        try add(topic: url.topic, of: "-L topic")
        applyPlace(of: url)
    }

    /// Applies all parts of the URL except the topic.
    mutating func applyPlace(of url: BrokerURL) {
        host = url.host
        port = url.port
        if url.isWebSocket { transport = .webSocket }
        if url.isSecure { tls.isWanted = true }
        if let username = url.username { self.username = username }
        if let password = url.password { self.password = password }
    }
}
