import CourierMQTT

/// Sends an invoice for each order, in the trace of the order.
struct Billing {
    let count: Int
    let archive: String
    let port: UInt16

    /// Returns when the invoices of all orders are acknowledged.
    func run() async throws {
        let traced = try TracedClient(named: "billing", archive: archive, port: port)
        let client = traced.client
        // The sink and its task run in the trace of the order, so the invoice gets the context without further code.
        let (results, continuation) = AsyncThrowingStream<Void, any Error>.makeStream()
        let sink = client.messagePublisher(topic: "orders/+").sink { [client] (order: Order) in
            Task {
                do {
                    let invoice = Invoice(order: order.number, cents: order.number * 250)
                    try await client.publish(invoice, to: "invoices/\(order.number)")
                    continuation.yield()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
        }
        client.connect()
        try await client.subscribe(to: "orders/+")
        say("ready")
        for try await _ in results.prefix(count) {}
        sink.cancel()
        await traced.end()
        say("sent \(count) invoices")
    }
}
