import CourierCore
import CourierMQTT
import CourierMQTTChuck
import CourierMQTTChuckWeb
import CourierTesting
import Dispatch
import Foundation
import Synchronization

/// A broker, a fleet that publishes positions and an office that reads them, all shown by the packet inspector. The
/// office also processes repairs: the first attempt of each repair parks its message, so that it can be retried on the
/// page. The first line of the output is the address of the page. The program runs until it is interrupted.
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
        let fleet = client("fleet", broker, logger)
        let office = client("office", broker, logger)
        let server = try logger.serve(parkedMessages: { ["office": office.parked] })
        print(server.url)
        fflush(nil)

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
        let known = Mutex<Set<String>>([])
        let repairs = try office.process(String.self, from: "repairs/#") { repair, _ in
            if known.withLock({ $0.insert(repair).inserted }) {
                throw Park(reason: "No garage is free for <b>this</b>.")
            }
        }
        try await repairs.subscribed()
        for bus in 1...3 {
            try await fleet.publish("The brakes of bus \(bus) are loud.", to: "repairs/\(bus)", qos: .one)
        }
        let driving = Task { for try await _ in fleet.messages(String.self, from: "orders/+", qos: .one) {} }
        defer { driving.cancel() }
        try await report(fleet, broker, rate: rate)
        withExtendedLifetime(server) {}
    }

    private static func client(
        _ name: String, _ broker: LoopbackBroker, _ logger: MQTTChuckLogger
    ) -> any CourierClient {
        var config = MQTTClientConfig(
            options: ConnectOptions(
                host: "127.0.0.1", port: broker.port, clientId: name, username: name, password: "nobody-sees-this"))
        // The broker runs in this process, so the client must connect even without a network.
        config.environment.networkMonitor = AlwaysAvailableNetwork()
        config.deliveryQueue = DispatchQueue(label: name)
        config.packetObserver = logger
        return CourierClientFactory().makeMQTTClient(config: config)
    }

    /// Publishes positions at a steady rate, some with QoS 2, and sometimes a message that contains HTML markup. Once a
    /// minute it cuts all connections.
    private static func report(_ fleet: any CourierClient, _ broker: LoopbackBroker, rate: Double) async throws {
        let clock = ContinuousClock()
        // The tick is so short that thousands of messages per second look steady on the page.
        let tick = Duration.milliseconds(10)
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
                    // Without a connection, QoS 0 messages are lost. Other messages fill the queue until it accepts no
                    // more, as in a real network.
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
