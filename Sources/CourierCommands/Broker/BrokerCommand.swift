package import CommandArguments
import CourierTesting
import CourierTransport
import Dispatch
import MQTTCodec
import Synchronization

/// The command `courier broker`: runs a small broker for experiments and tests.
package struct BrokerCommand: CourierCommand {
    package init() {}

    package var summary: CommandSummary {
        CommandSummary(
            name: "broker", abstract: "run a small broker for experiments and tests",
            usage: ["[-p PORT] [-h ADDRESS | --unix PATH] [-u NAME -P PASSWORD] [--cert FILE --key FILE]"],
            discussion: [
                "An in-memory broker for MQTT 3.1, 3.1.1 and 5, for experiments and tests. "
                    + "Do not use this broker in production: sessions and messages are lost when the broker ends.",
                "The broker listens on 127.0.0.1, unless -h names another address. "
                    + "SIGINT and SIGTERM end the broker normally.",
            ],
            groups: BrokerArguments.groups.map(\.summary),
            examples: [
                .init("courier broker", "Runs a broker for the programs on this machine, until Ctrl-C."),
                .init(
                    "courier broker -h 0.0.0.0 -u ada -P secret",
                    "Accepts clients from other machines, if they send this user name and password."),
                .init("courier broker -p 0", "Listens on a free port, and prints the port."),
            ],
            exitCodes: [
                .init("0", "SIGINT or SIGTERM ended the broker."),
                .init("1", "The command line is wrong, or the broker cannot listen on the address."),
            ])
    }

    package func run(_ arguments: [String], _ console: Console) throws -> Int32 {
        var settings = BrokerArguments()
        try ArgumentReader(BrokerArguments.groups).read(arguments, into: &settings)
        try settings.check()
        let broker = try Self.start(settings)
        let ending = Ending()
        let isEnding = Mutex(false)
        // Signals have their own queue. The second signal can thus be handled while the shutdown after the first signal
        // is running.
        let signals = SignalWatch(SystemSignal.endings, on: DispatchQueue(label: "courier.broker.signals")) { number in
            let isSecond = isEnding.withLock { isEnding in
                defer { isEnding = true }
                return isEnding
            }
            if isSecond { return ending.end(ExitCode.signal(number)) }
            Task {
                await broker.shutdown()
                ending.end(ExitCode.success)
            }
        }
        console.write(BrokerBanner(arguments: settings, port: broker.port).lines.map { $0 + "\n" }.joined())
        console.flush()
        return withExtendedLifetime(signals) { ending.wait() }
    }

    private static func start(_ settings: BrokerArguments) throws(ArgumentError) -> LoopbackBroker {
        var configuration = BrokerConfiguration()
        if let username = settings.username, let password = settings.password {
            configuration.authentication = .accounts([.init(username: username, password: SecretBytes(password))])
        }
        do throws(TransportError) {
            return try LoopbackBroker.start(
                on: settings.unixPath.map { .unix(path: $0) } ?? .tcp(host: settings.host, port: settings.port),
                tls: try tls(settings), configuration: configuration)
        } catch {
            throw ArgumentError("The broker cannot listen: \(error.message).", hint: hint(error.code, settings))
        }
    }

    private static func tls(_ settings: BrokerArguments) throws(TransportError) -> TLSContext? {
        guard let certificate = settings.certificateFile, let key = settings.keyFile else { return nil }
        var configuration = TLSServerConfiguration(
            identity: TLSIdentity(certificateFile: certificate, privateKeyFile: key))
        configuration.clientAuthoritiesFile = settings.authoritiesFile
        return try TLSContext(server: configuration)
    }

    static func hint(_ code: TransportError.Code, _ settings: BrokerArguments) -> String? {
        switch code {
        case .addressInUse where settings.unixPath != nil: "Remove the socket file if no program uses it."
        case .addressInUse:
            "Another broker may use this port. End that broker, or choose another port with -p (0: a free port)."
        case .hostNotFound, .nameResolutionFailed:
            "-h needs an address of this machine, such as 127.0.0.1 or 0.0.0.0, not a name."
        case .permissionDenied where settings.unixPath != nil:
            "This user has no permission to create a socket in this folder. Choose another folder with --unix."
        case .socketNotFound: "Create the folder of the socket, or choose another path with --unix."
        case .permissionDenied: "Only the administrator may use ports below 1024: choose another port with -p."
        default: nil
        }
    }
}
