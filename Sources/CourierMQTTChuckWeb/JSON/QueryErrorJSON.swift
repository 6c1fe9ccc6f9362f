import CourierMQTTChuck

/// Why a query cannot be read.
struct QueryErrorJSON: Encodable, Sendable {
    /// Counted from 1.
    let column: Int
    let message: String
    let help = MQTTChuckQuery.help

    init(column: Int, message: String) {
        self.column = column
        self.message = message
    }
}

/// Whether a query can be read. An answer of its own, because a browser reports every refusal as a fault of the page.
struct QueryCheckJSON: Encodable, Sendable {
    let error: QueryErrorJSON?
}

/// What the page needs to know once.
struct AboutJSON: Encodable, Sendable {
    let help = MQTTChuckQuery.help
    let exports = MQTTChuckExportFormat.allCases.map(\.fileExtension)
    let rowLimit: Int
    let maximumRows: Int
}
