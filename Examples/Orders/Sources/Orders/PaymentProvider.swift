import Foundation

/// A payment provider that often fails. Its payments are in a file, which survives the order service.
actor PaymentProvider {
    struct NoAnswer: LocalizedError {
        var errorDescription: String? { "The payment provider does not answer." }
    }

    struct Closed: Error {
        let time: Duration
    }

    struct CardRefused: Error {}

    /// The numbers of the paid orders, in the order of their payments.
    private(set) var payments: [Int]
    private let file: FileHandle

    /// Opens the file with the payments, and creates it if it does not exist.
    init(_ file: URL) throws {
        if !FileManager.default.fileExists(atPath: file.path) { try Data().write(to: file) }
        payments = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap { Int($0) }
        self.file = try FileHandle(forWritingTo: file)
        try self.file.seekToEnd()
    }

    /// Charges the customer once. A repeated call for a paid order succeeds, and charges nothing. Real payment
    /// providers offer this with a key that the caller chooses for each payment.
    ///
    /// - Returns: False if the order was paid before.
    func charge(_ order: Order) async throws -> Bool {
        if payments.contains(order.number) { return false }
        try await Task.sleep(for: .milliseconds(5))  // The time of a real provider's answer.
        if order.number % 10 == 0 { throw CardRefused() }
        switch Int.random(in: 0..<100) {
        case ..<30: throw NoAnswer()
        case ..<35: throw Closed(time: .milliseconds(200))
        default: break
        }
        // Another call may have paid the order during the pause.
        if payments.contains(order.number) { return false }
        payments.append(order.number)
        try file.write(contentsOf: Data("\(order.number)\n".utf8))
        return true
    }
}
