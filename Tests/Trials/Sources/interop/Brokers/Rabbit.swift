import CourierMQTT
import CourierTransport
import Foundation
import TrialSupport

/// One RabbitMQ node with its plugins for MQTT and for MQTT over WebSocket.
actor Rabbit: Broker {
    private static let program = "/usr/lib/rabbitmq/bin/rabbitmq-server"
    /// How long the node may take until it accepts connections.
    private static let patience = Duration.seconds(120)

    let name = "RabbitMQ"
    let account = Account(user: "guest", password: "guest")
    let lacks: [Ability: String] = [
        .version5: "RabbitMQ 3.10 speaks MQTT 3.1.1",
        .qos2: "RabbitMQ takes QoS 2 as QoS 1, which has a row of its own",
    ]
    /// Abilities that RabbitMQ lacks over WebSocket only. Other MQTT clients see the same behavior.
    private static let lacksByWebSocket: [Ability: String] = [
        .explainsRefusal: "RabbitMQ 3.10 closes the WebSocket (1002) and sends no CONNACK",
        .forgetsWill: "RabbitMQ 3.10 publishes the will after DISCONNECT, over WebSocket only",
    ]
    private let site: RabbitNode.Site
    private let node: RabbitNode
    private var ways: [Way] = []

    init() throws {
        let folder = try TemporaryFolder()
        let name = "courier" + folder.path.suffix(6).lowercased().filter(\.isLetter)
        site = RabbitNode.Site(folder: folder, registryPort: try LocalPort.free(), names: [name])
        node = try RabbitNode(0, of: site)
    }

    nonisolated var missingPackage: String? {
        FileManager.default.isExecutableFile(atPath: Self.program) ? nil : "rabbitmq-server"
    }

    func start() async throws -> [Way] {
        if ways.isEmpty { try await configure() }
        try node.start()
        let end = ContinuousClock.now + Self.patience
        // RabbitMQ reports readiness in no other way, so its port is polled.
        while !node.isReady {
            guard .now < end else { throw Failure("RabbitMQ did not start: \(node.lastWords)") }
            try await Task.sleep(for: .milliseconds(100))
        }
        return ways
    }

    /// Adds listeners to the node's default configuration, which only has one for plain MQTT.
    private func configure() async throws {
        let (tls, ws, wss) = (try LocalPort.free(), try LocalPort.free(), try LocalPort.free())
        let certificates = try await Certificates.shared
        func secure(_ prefix: String) -> String {
            """
            \(prefix).cacertfile = \(certificates.authorityFile)
            \(prefix).certfile = \(certificates.server.certificateFile)
            \(prefix).keyfile = \(certificates.server.privateKeyFile)
            """
        }
        let home = site.folder.file(node.name)
        // Classic queues, because quorum queues are only useful with several nodes. RabbitMQ 3.10 delivers nothing from
        // quorum queues over WebSocket.
        let common = try String(contentsOfFile: home + "/rabbit.conf", encoding: .utf8)
            .replacing("durable_queue_type = quorum", with: "durable_queue_type = classic")
        let settings = """
            \(common)
            listeners.ssl = none
            \(secure("ssl_options"))
            mqtt.listeners.ssl.1 = 127.0.0.1:\(tls)
            web_mqtt.tcp.ip = 127.0.0.1
            web_mqtt.tcp.port = \(ws)
            web_mqtt.ssl.ip = 127.0.0.1
            web_mqtt.ssl.port = \(wss)
            \(secure("web_mqtt.ssl"))

            """
        try settings.write(toFile: home + "/rabbit.conf", atomically: true, encoding: .utf8)
        try "[rabbitmq_mqtt,rabbitmq_web_mqtt].".write(toFile: home + "/plugins", atomically: true, encoding: .utf8)
        let webSocket = WebSocketOptions(path: "/ws")
        ways = [
            Way("tcp", port: node.port),
            Way("tls", port: tls, tls: certificates.client),
            Way("ws", port: ws, webSocket: webSocket, lacks: Self.lacksByWebSocket),
            Way(
                "wss", port: wss, tls: certificates.client, webSocket: webSocket, lacks: Self.lacksByWebSocket),
        ]
    }

    func stop() async { node.kill() }

    func remove() async {
        node.kill()
        let end = ContinuousClock.now + .seconds(10)
        // The registry does not end before it has detected the end of the node.
        while .now < end, !site.endRegistry() { try? await Task.sleep(for: .milliseconds(100)) }
        site.folder.remove()
    }
}
