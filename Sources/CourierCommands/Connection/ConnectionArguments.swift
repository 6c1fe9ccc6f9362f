import CommandArguments
package import CourierCore
package import CourierMQTT
package import CourierTransport

/// The connection options of a command line, as typed. Only their form is checked.
package struct ConnectionArguments: Sendable {
    /// The kind of command, which decides the allowed values of `-t` and the defaults.
    package enum Role: Sendable {
        case publisher, subscriber, requester

        /// The name of the configuration file, which is the same as for the mosquitto clients.
        var fileName: String {
            switch self {
            case .publisher: "mosquitto_pub"
            case .subscriber: "mosquitto_sub"
            case .requester: "mosquitto_rr"
            }
        }
    }

    /// The transport protocol below MQTT.
    package enum Transport: Sendable { case tcp, webSocket }

    /// The version of MQTT.
    package enum Version: Sendable { case v31, v311, v5 }

    /// The options for the will. If any of them is used, the topic must be set too.
    package struct Will: Sendable {
        package var topic: String?
        package var payload: String?
        package var qos = 0
        package var isRetained = false
    }

    /// The TLS options.
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
        /// True if the URL of the broker requests TLS, as `mqtts://` does. The URL does not name the trusted
        /// certificates, because other options do so.
        package var isWanted = false
        package var isOff = false
        /// The key of `--psk`, in hexadecimal digits.
        package var preSharedKey: String?
        package var preSharedKeyIdentity: String?
        /// The engine of `--tls-engine`. It contains the key if `--keyform` is `engine`.
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
    /// The session expiry in seconds. `UInt32.max` means no limit; `nil` means that no option sets it.
    package var sessionExpiry: UInt32?
    /// The reason code of DISCONNECT.
    package var disconnectReason = ReasonCode.normalDisconnection
    package var will = Will()
    package var tls = TLS()
    package var qos = 0
    package var maximumInFlight = 20
    package var properties = PropertyArguments()
    package var proxy: ProxyConfiguration?
    /// The local address of `-A` and the interface of `--interface`.
    package var localBinding: LocalBinding?
    /// Whether the client looks up DNS service records (SRV) of the host.
    package var usesServiceRecords = false
    /// The options of each subscription.
    package var subscriptionOptions = SubscriptionOptions()
    package var isDebugging = false
    package var isQuiet = false
    /// The reasons why known options are not supported, in the order of the options.
    var refusals: [ArgumentError] = []
    /// The path of the file that `-o` names; `nil` without `-o`.
    var optionsFile: String?
    /// The topics of `-t` and `-L`, in their order.
    package var topics: [String] = []
    /// The path of the file that `--store` names; `nil` without `--store`.
    package var storePath: String?
    /// True if the command serves the web page of the inspector.
    package var isInspected = false

    /// Creates the default options of a kind of command.
    package init(_ role: Role) {
        self.role = role
        version = role == .requester ? .v5 : .v311
    }

    /// The QoS of `-q` as a type of the SDK.
    package var level: QoS { Self.level(qos) }

    static func level(_ qos: Int) -> QoS { qos == 2 ? .two : qos == 1 ? .one : .zero }
}
