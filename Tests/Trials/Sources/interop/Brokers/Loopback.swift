import CourierCore
import CourierTesting
import CourierTransport
import MQTTCodec
import TrialSupport

/// The `LoopbackBroker` of CourierTesting, one instance for each wire.
actor Loopback: Broker {
    let name = "LoopbackBroker"
    let account = Account.ada
    let lacks = Ability.lackedByNewBrokers
    private let configuration: BrokerConfiguration
    private let folder: TemporaryFolder
    private var brokers: [LoopbackBroker] = []
    private var ways: [Way] = []

    /// Creates brokers with `configuration`. By default, they support every feature and accept only the account
    /// ``account``.
    init(_ configuration: BrokerConfiguration? = nil) throws {
        var everything = BrokerConfiguration()
        everything.authentication = .accounts([
            .init(username: account.user, password: SecretBytes(account.password))
        ])
        self.configuration = configuration ?? everything
        folder = try TemporaryFolder()
    }

    nonisolated var missingPackage: String? { nil }

    func start() async throws -> [Way] {
        let certificates = try await Certificates.shared
        if ways.isEmpty {
            ways = [
                Way("tcp", port: try LocalPort.free()),
                Way("tls", port: try LocalPort.free(), tls: certificates.client),
                Way("ws", port: try LocalPort.free(), webSocket: WebSocketOptions()),
                Way("wss", port: try LocalPort.free(), tls: certificates.client, webSocket: WebSocketOptions()),
                Way(socketPath: folder.file("broker.sock")),
            ]
        }
        let secure = try TLSContext(server: TLSServerConfiguration(identity: certificates.server))
        for way in ways {
            let address: ChannelListener.Address =
                if case .unix(let path) = way.endpoint { .unix(path: path) } else { .tcp(port: way.port) }
            brokers.append(
                try LoopbackBroker.start(
                    on: address, tls: way.tls == nil ? nil : secure,
                    webSocket: way.webSocket == nil ? nil : WebSocketConfiguration(), configuration: configuration))
        }
        return ways
    }

    func stop() async {
        for broker in brokers { await broker.shutdown() }
        brokers = []
    }

    func remove() async {
        await stop()
        folder.remove()
    }
}
