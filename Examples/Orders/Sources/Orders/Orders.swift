import CourierMQTT
import Foundation

@main struct Orders {
    static let usage = """
        usage: Orders serve FOLDER COUNT [PORT]    handles orders until COUNT are paid or parked; keeps its files in FOLDER
               Orders buy COUNT [PORT]             sends the orders 1 to COUNT
        """

    static func main() async throws {
        let words = CommandLine.arguments.dropFirst().map(\.self)
        switch words.first {
        case "serve" where (3...4).contains(words.count):
            let (count, port) = try numbers(words.dropFirst(2))
            let folder = URL(fileURLWithPath: words[1], isDirectory: true)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try await OrderService(folder: folder, port: port).run(count)
        case "buy" where (2...3).contains(words.count):
            let (count, port) = try numbers(words.dropFirst(1))
            try await buy(count, port)
        default: end()
        }
    }

    /// Reads the number of orders and the port.
    private static func numbers(_ words: ArraySlice<String>) throws -> (count: Int, port: UInt16) {
        guard let count = words.first.flatMap({ Int($0) }), (1...1_000_000).contains(count),
            let port = words.count == 2 ? words.last.flatMap({ UInt16($0) }) : 1_883
        else { end() }
        return (count, port)
    }

    private static func end() -> Never {
        say(usage)
        exit(2)
    }

    /// Sends the orders.
    private static func buy(_ count: Int, _ port: UInt16) async throws {
        let client = CourierClientFactory().makeMQTTClient(config: MQTTClientConfig(named: "shop", port: port))
        client.connect()
        try await client.connected()
        let customers = ["ada", "ben", "cleo", "dora", "emil"]
        for number in 1...count {
            let customer = customers[number % customers.count]
            let order = Order(number: number, customer: customer, cents: 100 + number * 7 % 900)
            try await client.publish(order, to: Order.topic, qos: .one)
            try await Task.sleep(for: .milliseconds(5))  // Real orders do not arrive all at once.
        }
        say("all \(count) orders are sent")
        await client.disconnectAndWait()
    }
}

extension MQTTClientConfig {
    /// Creates the configuration of a client with this name, for the broker on a port of this machine. The broker keeps
    /// the client's session while the client is away.
    init(named name: String, port: UInt16) {
        self.init(
            options: ConnectOptions(
                host: "127.0.0.1", port: port, clientId: name, username: "", password: "", isCleanSession: false))
    }
}

/// Prints a line, and flushes it so that it is visible at once, even through a pipe.
func say(_ line: String) {
    print(line)
    fflush(nil)
}
