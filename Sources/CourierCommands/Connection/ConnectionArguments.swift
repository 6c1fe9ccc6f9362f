import CommandArguments
package import CourierCore
package import CourierMQTT
package import CourierTransport

/// What a command line says about the connection: as it was typed, checked for its form only.
package struct ConnectionArguments: Sendable {
    /// What the connection is for, which decides what `-t` may be and which defaults hold.
    package enum Role: Sendable {
        case publisher, subscriber, requester

        /// The name of the configuration file, which the mosquitto clients have too.
        var fileName: String {
            switch self {
            case .publisher: "mosquitto_pub"
            case .subscriber: "mosquitto_sub"
            case .requester: "mosquitto_rr"
            }
        }
    }

    /// What runs beneath MQTT.
    package enum Transport: Sendable { case tcp, webSocket }

    /// The version of MQTT.
    package enum Version: Sendable { case v31, v311, v5 }

    /// The will, of which the topic must be there at the end.
    package struct Will: Sendable {
        package var topic: String?
        package var payload: String?
        package var qos = 0
        package var isRetained = false
    }

    /// How TLS is spoken.
    package struct TLS: Sendable {
        package var authoritiesFile: String?
        package var authoritiesFolder: String?
        package var certificateFile: String?
        package var keyFile: String?
        package var keyForm: String?
        package var isInsecure = false
        package var applicationProtocol: String?
        package var version: String?
        package var ciphers: String?
        package var keyLogFile: String?
        package var usesSystemAuthorities = false
        /// Whether a URL asks for it, which says nothing of whom to trust.
        package var isWanted = false
        package var isOff = false
        /// The key of `--psk`, in hexadecimal digits.
        package var preSharedKey: String?
        package var preSharedKeyIdentity: String?
        /// The engine of `--tls-engine`, from which the key comes if `--keyform` is engine.
        package var engine: String?
        /// Whether ``keyFile`` is the URI of a key in hardware.
        var isKeyInHardware: Bool { keyForm == "engine" }
        /// Whether the user gave `--tls-engine-kpass-sha1`. The program refuses this option.
        var hasEnginePassword = false
    }

    package let role: Role
    package var host: String?
    package var port: Int?
    package var unixPath: String?
    package var transport = Transport.tcp
    package var version: Version
    package var clientID: String?
    package var clientIDPrefix: String?
    package var username: String?
    package var password: String?
    package var keepAlive: UInt16 = 60
    package var isCleanSession = true
    /// In seconds; `UInt32.max` is for ever, `nil` was not said.
    package var sessionExpiry: UInt32?
    package var will = Will()
    package var tls = TLS()
    package var qos = 0
    package var maximumInFlight = 20
    package var properties = PropertyArguments()
    package var proxy: ProxyConfiguration?
    /// Whether DNS is asked for service records of the host.
    package var usesServiceRecords = false
    /// What is asked of the broker with each subscription.
    package var subscriptionOptions = SubscriptionOptions()
    package var isDebugging = false
    package var isQuiet = false
    /// The reasons why known options are not supported, in the order of the options.
    var refusals: [ArgumentError] = []
    /// The file of `-o`.
    var optionsFile: String?
    /// The topics of `-t` and `-L`, in their order.
    package var topics: [String] = []
    /// The file of `--store`.
    package var storePath: String?
    /// Whether the inspector's page is served.
    package var isInspected = false

    /// The defaults of a role.
    package init(_ role: Role) {
        self.role = role
        version = role == .requester ? .v5 : .v311
    }

    /// The level of `-q` as the SDK calls it.
    package var level: QoS { Self.level(qos) }

    static func level(_ qos: Int) -> QoS { qos == 2 ? .two : qos == 1 ? .one : .zero }
}
