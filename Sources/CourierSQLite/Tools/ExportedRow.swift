import CourierCore
import Foundation

/// One line of an export, encoded as a JSON object.
struct ExportedRow: Encodable {
    /// The kind of a row.
    enum Kind: String, Encodable {
        case outgoing
        case incoming
        case rejected
        case job
        case parked
        case packetID
        case subscription
    }

    /// A user property of a message.
    struct UserProperty: Encodable {
        let name: String
        let value: String
    }

    let kind: Kind
    let clientID: String
    let broker: String
    var id: UInt64?
    var topic: String?
    var qos: Int?
    var isRetained: Bool?
    /// The progress of an outgoing message: `queued`, `sent` or `received`.
    var progress: String?
    var packetID: UInt16?
    var storedAt: Date?
    var expiresAt: Date?
    var bootID: UUID?
    /// The seconds from the boot until the message was stored.
    var secondsSinceBoot: Double?
    /// True for a latest-only message, which a newer waiting message to the same topic replaces; otherwise `nil`.
    var isLatestOnly: Bool?
    /// The number of connections that ended right after the message was sent; `nil` if there are none.
    var strikes: Int?
    /// The reason of the rejection, or the error of a job's last attempt.
    var reason: String?
    var rejectedAt: Date?
    /// The name of the processor that handles the job. Only jobs and parked messages have the next five properties.
    var processor: String?
    var deduplicationKey: String?
    /// The number of attempts that failed.
    var attempts: Int?
    /// The planned date of the next attempt, which may still change; `nil` for a parked message.
    var nextAttemptAt: Date?
    var parkedAt: Date?
    var payload: Data?
    var contentType: String?
    var isUTF8: Bool?
    var responseTopic: String?
    var correlationData: Data?
    var messageExpirySeconds: Int64?
    var userProperties: [UserProperty]?
    var filter: String?
    var isUnsubscribing: Bool?

    private init(_ kind: Kind, in scope: StoreScope) {
        self.kind = kind
        (clientID, broker) = (scope.clientID, scope.broker)
    }

    init(_ kind: Kind, _ row: StoredOutgoing, in scope: StoreScope) {
        self.init(kind, in: scope)
        let message = row.message
        (id, topic, qos) = (message.id.rawValue, message.topic, message.qos.rawValue)
        (isRetained, storedAt, expiresAt) = (message.isRetained, message.storedAt, message.expiresAt)
        payload = Data(message.payload)
        bootID = message.bootTime?.bootID
        secondsSinceBoot = message.bootTime.map { $0.sinceBoot / .seconds(1) }
        if message.isLatestOnly { isLatestOnly = true }
        if row.strikes > 0 { strikes = row.strikes }
        if kind == .outgoing || kind == .rejected { (progress, packetID) = Self.words(row.progress) }
        let properties = message.properties
        (contentType, responseTopic) = (properties.contentType, properties.responseTopic)
        correlationData = properties.correlationData
        messageExpirySeconds = properties.messageExpiry?.components.seconds
        if properties.payloadFormat == .utf8 { isUTF8 = true }
        if !properties.userProperties.isEmpty {
            userProperties = properties.userProperties.map { UserProperty(name: $0.name, value: $0.value) }
        }
    }

    init(_ rejected: RejectedMessage, in scope: StoreScope) {
        self.init(.rejected, rejected.outgoing, in: scope)
        (reason, rejectedAt) = (rejected.reason, rejected.rejectedAt)
    }

    init(_ job: StoredJob, in scope: StoreScope) {
        self.init(job.state.isParked ? .parked : .job, StoredOutgoing(job.message, .queued), in: scope)
        let state = job.state
        (processor, deduplicationKey) = (state.processor, state.deduplicationKey)
        (attempts, reason) = (state.attempts, state.lastError)
        switch state.stage {
        case .waiting(let pause, let since): nextAttemptAt = since.date.addingTimeInterval(pause / .seconds(1))
        case .parked(let date): parkedAt = date
        }
    }

    init(packetID: UInt16, in scope: StoreScope) {
        self.init(.packetID, in: scope)
        self.packetID = packetID
    }

    init(_ subscription: StoredSubscription, in scope: StoreScope) {
        self.init(.subscription, in: scope)
        filter = subscription.filter.string
        switch subscription.intent {
        case .subscribed(let qos): self.qos = qos.rawValue
        case .unsubscribing: isUnsubscribing = true
        }
    }

    private static func words(_ progress: StoredOutgoing.Progress) -> (String, UInt16?) {
        switch progress {
        case .queued: ("queued", nil)
        case .sent(let packetID): ("sent", packetID)
        case .received(let packetID): ("received", packetID)
        }
    }
}
