/// A number of rows and bytes that a store compares with its limits. Only the bytes of payloads, topics, filters and
/// properties count.
package struct StoreSize: Hashable, Sendable {
    package var rows = 0
    package var bytes = 0

    package init(rows: Int = 0, bytes: Int = 0) {
        self.rows = rows
        self.bytes = bytes
    }

    package init(of message: StoredMessage) {
        let properties = message.properties
        var bytes = message.payload.count + message.topic.utf8.count
        bytes += properties.contentType?.utf8.count ?? 0
        bytes += properties.responseTopic?.utf8.count ?? 0
        bytes += properties.correlationData?.count ?? 0
        for property in properties.userProperties { bytes += property.name.utf8.count + property.value.utf8.count }
        self.init(rows: 1, bytes: bytes)
    }

    package init(of filter: TopicFilter) { self.init(rows: 1, bytes: filter.string.utf8.count) }

    package init(of key: ProcessedKey) {
        self.init(rows: 1, bytes: key.processor.utf8.count + key.key.utf8.count)
    }

    /// Creates the sum of the sizes of all rows that the changes add. Does not subtract the rows that the changes
    /// remove or replace.
    package init(addedBy changes: [StoreChange]) {
        self.init()
        for change in changes {
            switch change {
            case .enqueue(let message), .keep(let message): self += StoreSize(of: message)
            case .addJob(let job): self += StoreSize(of: job.message)
            case .rememberKey(let key): self += StoreSize(of: key)
            case .want(let subscription): self += StoreSize(of: subscription.filter)
            case .updateJob, .removeJob, .forgetKeys, .progress, .removeOutgoing, .strike, .reject, .removeRejected,
                .removeIncoming, .removeExpired,
                .rememberPacketID, .forgetPacketID, .forgetAllPacketIDs, .rememberSession, .forgetSubscription,
                .removeAll:
                break
            }
        }
    }

    /// Returns whether the rows and the bytes are both within the limit.
    package func fits(_ limit: StoreSize) -> Bool { rows <= limit.rows && bytes <= limit.bytes }

    /// Returns whether a change that leads to this size is allowed. The rows and the bytes must each be within the
    /// limit, or not above `before`, the size before the change.
    package func fits(_ limit: StoreSize, atMost before: StoreSize) -> Bool {
        rows <= max(limit.rows, before.rows) && bytes <= max(limit.bytes, before.bytes)
    }

    package static func + (left: StoreSize, right: StoreSize) -> StoreSize {
        StoreSize(rows: left.rows + right.rows, bytes: left.bytes + right.bytes)
    }

    package static func - (left: StoreSize, right: StoreSize) -> StoreSize {
        StoreSize(rows: left.rows - right.rows, bytes: left.bytes - right.bytes)
    }

    package static func += (left: inout StoreSize, right: StoreSize) { left = left + right }

    package static func -= (left: inout StoreSize, right: StoreSize) { left = left - right }
}
