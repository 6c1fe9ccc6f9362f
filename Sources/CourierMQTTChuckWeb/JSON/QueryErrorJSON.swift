import CourierMQTTChuck

/// The reason why a query cannot be parsed, as JSON for the page.
struct QueryErrorJSON: Encodable, Sendable {
    /// The column of the error, counted from 1.
    let column: Int
    let message: String
    let help = MQTTChuckQuery.help

    init(column: Int, message: String) {
        self.column = column
        self.message = message
    }
}

/// The result of checking a query. For an invalid query, the HTTP status is still a success, because browsers report
/// every HTTP error as an error of the page.
struct QueryCheckJSON: Encodable, Sendable {
    let error: QueryErrorJSON?
}

/// Values that the page loads once, when it opens.
struct AboutJSON: Encodable, Sendable {
    let help = MQTTChuckQuery.help
    let exports = MQTTChuckExportFormat.allCases.map(\.fileExtension)
    let rowLimit: Int
    let maximumRows: Int
}
