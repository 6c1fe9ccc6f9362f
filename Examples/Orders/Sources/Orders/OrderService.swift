import CourierMQTT
import CourierSQLite
import Foundation

/// Charges the customer of each order. It can be killed at any time and started again.
struct OrderService {
    /// The folder of the message store and of the payments.
    let folder: URL
    let port: UInt16

    private static let policy = ProcessingPolicy<Order>(
        concurrency: 4,
        order: .by(\.customer),  // A customer's orders are handled one after the other.
        deduplicate: .by(\.number, for: .seconds(86_400)),  // The broker may send an order again.
        retries: RetrySchedule(maximumAttempts: 8, first: .milliseconds(20), maximum: .milliseconds(500)))

    /// Handles orders until `count` orders are paid or parked. Then prints a report.
    func run(_ count: Int) async throws {
        let provider = try PaymentProvider(folder.appendingPathComponent("payments.txt"))
        var config = MQTTClientConfig(named: "order-service", port: port)
        config.messageStore = try SQLiteMessageStore(at: folder.appendingPathComponent("orders.courier"))
        let client = CourierClientFactory().makeMQTTClient(config: config)
        let orders = try client.process(Order.self, from: Order.topic, policy: Self.policy) { order, context in
            try await handle(order, context, provider)
        }
        client.connect()
        try await orders.subscribed()
        say("ready: \(await provider.payments.count) paid, \(orders.metrics)")
        while await provider.payments.count + orders.metrics.parkedCount < count {
            try await Task.sleep(for: .milliseconds(50))  // Polls, because the provider reports no event.
        }
        await orders.stop()
        try await report(count, provider, client.parked)
        await client.disconnectAndWait()
    }

    private func handle(_ order: Order, _ context: ProcessingContext, _ provider: PaymentProvider) async throws {
        do {
            let isNew = try await provider.charge(order)
            say("order \(order.number) is paid\(isNew ? "" : " already"), attempt \(context.attempt)")
        } catch let closed as PaymentProvider.Closed {
            throw Retry(after: closed.time, reason: "The payment provider is closed.")
        } catch is PaymentProvider.CardRefused {
            throw Park(reason: "The card of \(order.customer) was refused.")
        }
        // Any other error leads to another attempt after a pause. After the last attempt, the order is parked.
    }

    /// Compares the payments and the parked orders with the orders from 1 to `count`.
    private func report(_ count: Int, _ provider: PaymentProvider, _ parking: any ParkedMessages) async throws {
        let payments = await provider.payments
        let messages = try await parking.messages()
        let parked = try messages.map { try JSONDecoder().decode(Order.self, from: $0.message.data).number }
        for (reason, messages) in Dictionary(grouping: messages, by: \.reason).sorted(by: { $0.key < $1.key }) {
            say("\(messages.count) parked: \(reason)")
        }
        let twice = payments.count - Set(payments).count + Set(payments).intersection(parked).count
        let missing = Set(1...count).subtracting(payments).subtracting(parked)
        say("\(count) orders: \(payments.count) paid, \(parked.count) parked, \(twice) twice, \(missing.count) missing")
    }
}
