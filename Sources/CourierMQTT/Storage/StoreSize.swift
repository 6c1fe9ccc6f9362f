import CourierCore

/// A number of rows and their bytes: payload, topic or filter, and the texts and data of properties.
struct StoreSize: Hashable, Sendable {
    var rows = 0
    var bytes = 0

    init(rows: Int = 0, bytes: Int = 0) {
        self.rows = rows
        self.bytes = bytes
    }

    init(of message: StoredMessage) {
        let properties = message.properties
        var bytes = message.payload.count + message.topic.utf8.count
        bytes += properties.contentType?.utf8.count ?? 0
        bytes += properties.responseTopic?.utf8.count ?? 0
        bytes += properties.correlationData?.count ?? 0
        for property in properties.userProperties { bytes += property.name.utf8.count + property.value.utf8.count }
        self.init(rows: 1, bytes: bytes)
    }

    init(of filter: TopicFilter) { self.init(rows: 1, bytes: filter.string.utf8.count) }

    /// Whether it is within the limit.
    func fits(_ limit: StoreSize) -> Bool { rows <= limit.rows && bytes <= limit.bytes }

    /// Whether each figure is within the limit or no more than before.
    func fits(_ limit: StoreSize, atMost before: StoreSize) -> Bool {
        rows <= max(limit.rows, before.rows) && bytes <= max(limit.bytes, before.bytes)
    }

    static func + (left: StoreSize, right: StoreSize) -> StoreSize {
        StoreSize(rows: left.rows + right.rows, bytes: left.bytes + right.bytes)
    }

    static func - (left: StoreSize, right: StoreSize) -> StoreSize {
        StoreSize(rows: left.rows - right.rows, bytes: left.bytes - right.bytes)
    }
}
