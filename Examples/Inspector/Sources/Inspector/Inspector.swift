import CourierCore
import CourierMQTT
import CourierMQTTChuck
import CourierMQTTChuckWeb
import CourierTesting
import Dispatch
import Foundation

/// A broker, a fleet that reports and an office that listens, watched by the inspector. The first line it prints is the
/// address of the page; it runs until it is interrupted.
///
///     swift run Inspector [messages a second, 20 by default]
@main struct Inspector {
    private struct Position: Codable, Sendable {
        var bus: Int
        var latitude: Double
        var longitude: Double
        var isDelayed: Bool
    }

    static func main() async throws {
        let rate = CommandLine.arguments.dropFirst().first.flatMap { Double($0) } ?? 20
        guard rate > 0, rate <= 100_000 else {
            print("usage: Inspector [messages a second, up to 100000]")
            exit(2)
        }
        let broker = try LoopbackBroker.start()
        let logger = MQTTChuckLogger()
        let server = try logger.serve()
        print(server.url)
        fflush(nil)

        let fleet = client("fleet", broker, logger)
        let office = client("office", broker, logger)
        for client in [fleet, office] { client.connect() }
        for client in [fleet, office] { try await client.connected() }
        let reading = Task {
            for try await position in office.messages(Position.self, from: "positions/#", qos: .two) {
                if position.isDelayed {
                    try await office.publish("Hurry up!", to: "orders/\(position.bus)", qos: .one)
                }
            }
        }
        defer { reading.cancel() }
        try await fleet.subscribe(to: "orders/+", qos: .one)
        try await report(fleet, broker, rate: rate)
        withExtendedLifetime(server) {}
    }

    private static func client(
        _ name: String, _ broker: LoopbackBroker, _ logger: MQTTChuckLogger
    ) -> any CourierClient {
        var config = MQTTClientConfig(
            options: ConnectOptions(
                host: "127.0.0.1", port: broker.port, clientId: name, username: name, password: "nobody-sees-this"))
        // The broker is in this process: no network is needed.
        config.environment.networkMonitor = AlwaysAvailableNetwork()
        config.deliveryQueue = DispatchQueue(label: name)
        config.packetObserver = logger
        return CourierClientFactory().makeMQTTClient(config: config)
    }

    /// Reports positions at a steady rate, with a message of QoS 2 now and then, one that tries to be markup, and an
    /// interruption of the network once a minute.
    private static func report(_ fleet: any CourierClient, _ broker: LoopbackBroker, rate: Double) async throws {
        let clock = ContinuousClock()
        let tick = Duration.milliseconds(10)  // Short enough that a rate of thousands looks steady on the page.
        let start = clock.now
        var sent = 0
        var cuts = 0
        while true {
            let elapsed = (clock.now - start) / .seconds(1)
            let due = Int(elapsed * rate) + 1
            while sent < due {
                sent += 1
                do {
                    try send(fleet, sent)
                } catch let error as CourierError where error.code == .connectionLost || error.code == .queueFull {
                    // While the network is interrupted, messages of QoS 0 are lost, and the others fill the queue until
                    // no more is taken, as in the field.
                }
            }
            if Int(elapsed / 60) > cuts {
                cuts += 1
                broker.dropConnections()
            }
            try await Task.sleep(for: tick)
        }
    }

    private static func send(_ fleet: any CourierClient, _ number: Int) throws {
        let bus = number % 7 + 1
        if number % 50 == 0 {
            let markup = "<img src=x onerror=alert(1)><script>alert(2)</script>"
            try fleet.publishMessage(markup, topic: "notes/<b>\(bus)</b>", qos: .zero)
        }
        let position = Position(
            bus: bus, latitude: 48.1 + Double(number % 100) / 1_000, longitude: 11.5 + Double(bus) / 100,
            isDelayed: number % 40 == 0)
        let qos: QoS = number % 10 == 0 ? .two : number % 3 == 0 ? .one : .zero
        try fleet.publishMessage(position, topic: "positions/\(bus)", qos: qos)
    }
}
