import CourierMQTT

/// Sends orders. Each order begins a new trace.
struct Shop {
    let count: Int
    let archive: String
    let port: UInt16

    /// Returns when all invoices have arrived.
    func run() async throws {
        let traced = try TracedClient(named: "shop", archive: archive, port: port)
        let client = traced.client
        client.connect()
        let invoices = try await client.messages(Received<Invoice>.self, from: "invoices/+").subscribed()
        for number in 1...count {
            try await TraceContext.$current.withValue(TraceContext()) {
                try await client.publish(Order(number: number), to: "orders/\(number)")
            }
        }
        for try await invoice in invoices.prefix(count) {
            let trace = invoice.message.properties.traceContext?.traceID ?? "none"
            say("order \(invoice.value.order) costs \(invoice.value.cents) cents, trace \(trace)")
        }
        await traced.end()
    }
}
