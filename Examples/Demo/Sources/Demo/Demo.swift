import CourierCore
import CourierMQTT
import CourierTesting
import Foundation
import MQTTCodec

/// A demo with two clients, one broker, and a network that fails. `Scripts/demo` builds and runs it.
@main @MainActor struct Demo {
    /// The number of messages that each side sends while connected. `offlineCount` is the number sent without a
    /// connection.
    private static let onlineCount = 2
    private static let offlineCount = 5
    private static let dishes = ["pizza", "ramen", "falafel", "dosa", "soup", "tacos", "pie"]

    private let screen: Screen
    private let stage = Stage()
    private let broker: LoopbackBroker
    private let cable: Cable
    private let office: Participant
    private let rider: Participant
    private let orders = Inbox<Order>()
    private let positions = Inbox<Position>()

    static func main() async {
        let screen = Screen()
        let interrupts = interruptHandler(screen)
        defer { interrupts.cancel() }
        screen.line("Courier: two clients, one broker in this process, and a network that fails.", .strong)
        do {
            let demo = try await Demo(screen)
            try await demo.play()
            guard await demo.summarize() else { exit(1) }
        } catch {
            screen.line("\nNot as promised: \(error)", .bad)
            exit(1)
        }
    }

    private init(_ screen: Screen) async throws {
        self.screen = screen
        // The broker and the token services share a secret that is new in each run.
        let token = UUID().uuidString
        var configuration = BrokerConfiguration()
        configuration.authentication = .accounts(
            ["office", "rider"].map { .init(username: $0, password: SecretBytes(token)) })
        broker = try LoopbackBroker.start(configuration: configuration)
        cable = try await Cable(to: broker)
        office = Participant("office", port: broker.port, token: token, through: cable, screen, stage)
        rider = Participant("rider", port: broker.port, token: token, through: cable, screen, stage)
    }

    private func play() async throws {
        screen.title("1  Connect")
        screen.tell("broker", "listens on 127.0.0.1:\(broker.port), and accepts clients with a token")
        for participant in [office, rider] { participant.client.connect() }
        for participant in [office, rider] { try await participant.client.connected() }
        try await office.client.subscribe(to: "positions/#", qos: .one)

        screen.title("2  Talk")
        // The office reads with a publisher, and the rider reads with a loop.
        let subscription = office.client.messagePublisher(topic: "positions/#")
            .sink { (position: Position) in
                receive(position, at: office, into: positions)
            }
        let reading = Task {
            for try await order in rider.client.messages(Order.self, from: "orders/+", qos: .two) {
                receive(order, at: rider, into: orders)
            }
        }
        defer {
            reading.cancel()
            subscription.cancel()
        }
        try await rider.client.subscribe(to: "orders/+", qos: .two)
        for number in 1...Self.onlineCount {
            try sendOrder(number)
            try await waitForAll(number)
            try sendPosition(number)
            try await waitForAll(number, number)
        }

        screen.title("3  Cut the network")
        cable.cut()
        screen.tell("network", "is cut", .bad)
        try await stage.wait(for: "the loss of both connections") { !office.isConnected && !rider.isConnected }
        for number in Self.onlineCount + 1...Self.onlineCount + Self.offlineCount {
            try sendOrder(number)
            try sendPosition(number)
        }

        screen.title("4  Reconnect")
        try await stage.wait(for: "two failed attempts of each client") {
            office.failureCount >= 2 && rider.failureCount >= 2
        }
        cable.mend()
        screen.tell("network", "works again; the clients get no notification of it", .good)
        try await stage.wait(for: "both connections") { office.isConnected && rider.isConnected }
        let total = Self.onlineCount + Self.offlineCount
        try await waitForAll(total, total)
    }

    // MARK: Messages

    /// Sends an order with QoS 2 (exactly once). It is encoded as JSON, because the JSON adapter is the first one.
    private func sendOrder(_ number: Int) throws {
        let order = Order(number: number, dish: Self.dishes[(number - 1) % Self.dishes.count])
        try office.client.publishMessage(order, topic: "orders/7", qos: .two)
        sent(order, by: office, as: "JSON", into: orders)
    }

    /// Sends a position with QoS 1 (at least once). An adapter rule selects the property list format for positions.
    private func sendPosition(_ number: Int) throws {
        let position = Position(number: number, latitude: 52.52 + Double(number) / 1_000, longitude: 13.405)
        try rider.client.publishMessage(position, topic: "positions/7", qos: .one)
        sent(position, by: rider, as: "property list", into: positions)
    }

    private func sent<Value>(_ value: Value, by sender: Participant, as format: String, into inbox: Inbox<Value>) {
        inbox.sent.append(value)
        screen.tell(sender.name, "-> \(value), as \(format)\(sender.isConnected ? "" : "; it waits")")
    }

    private func receive<Value>(_ value: Value, at reader: Participant, into inbox: Inbox<Value>) {
        inbox.received.append(value)
        inbox.lastAt = .now
        screen.tell(reader.name, "<- \(value)", .good)
        stage.changed()
    }

    private func waitForAll(_ orderCount: Int, _ positionCount: Int = 0) async throws {
        try await stage.wait(for: "\(orderCount) orders and \(positionCount) positions") {
            orders.received.count >= orderCount && positions.received.count >= positionCount
        }
    }

    // MARK: End of the demo

    /// Prints a summary. Returns true if all results are as expected.
    private func summarize() async -> Bool {
        for participant in [office, rider] {
            await participant.client.disconnectAndWait()
        }
        await broker.shutdown()

        var isAllTrue = true
        func check(_ name: String, _ what: String, _ isTrue: Bool) {
            isAllTrue = isAllTrue && isTrue
            screen.row(name, (isTrue ? "" : "NOT AS PROMISED: ") + what, isTrue ? .plain : .bad)
        }
        screen.title("Summary")
        check("orders", orders.summary, orders.isComplete)
        check("positions", positions.summary, positions.isComplete)
        for participant in [office, rider] {
            let intervals = participant.intervals
            let isExact =
                intervals.count == Participant.pauses.count
                && zip(intervals, Participant.pauses).allSatisfy { interval, pause in
                    interval > pause - .milliseconds(50) && interval < pause + .seconds(1)
                }
            let tokenCount = await participant.tokens.callCount
            check(
                participant.name,
                "reconnected, with pauses of \(intervals.map(Screen.seconds).joined(separator: ", ")) "
                    + "(configured: 1, 2, 4 s); requested a token \(tokenCount == 1 ? "once" : "\(tokenCount) times")",
                isExact && participant.lossCount == 1 && participant.connectionCount == 2 && tokenCount == 1)
        }
        let backAt = max(office.connectedAt, rider.connectedAt)
        let arrivedAt = max(orders.lastAt, positions.lastAt)
        screen.row(
            "waiting",
            "\(2 * Self.offlineCount) messages; the last arrived \(Screen.milliseconds(max(.zero, arrivedAt - backAt))) "
                + "after both clients had reconnected")
        screen.row("duration", Screen.seconds(ContinuousClock.now - screen.start))
        screen.line(isAllTrue ? "\nEverything worked as promised." : "\nNot as promised.", isAllTrue ? .good : .bad)
        return isAllTrue
    }

    /// Ends the program with exit code 130 at Ctrl-C. The process exit also ends the clients and the broker.
    private static func interruptHandler(_ screen: Screen) -> any DispatchSourceSignal {
        signal(SIGINT, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .main)
        source.setEventHandler {
            MainActor.assumeIsolated { screen.line("\nStopped.", .notable) }
            exit(130)
        }
        source.resume()
        return source
    }
}
