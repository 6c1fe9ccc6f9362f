import CourierCore

/// Recognizes a message that the broker sends again, while the first delivery of it is not acknowledged. Used if jobs
/// are only in memory: their messages are acknowledged after the handlers have returned, which may be on a later
/// connection.
struct UnacknowledgedCopies: Sendable {
    /// The relation of a message to earlier messages.
    enum Finding: Hashable {
        case new
        /// The message is a repetition of a message whose job exists.
        case again(JobQueue.JobID)
        /// The message is a repetition of a message that was handled.
        case handled
    }

    /// The jobs by the packet ids of their messages.
    private var jobs: [UInt16: JobQueue.JobID] = [:]
    /// The hashes of messages that were handled, but could not be acknowledged, because their connection had ended.
    private var handled: [UInt16: Int] = [:]

    /// Compares a message with the unacknowledged messages. For a match, both the packet id and the content must be
    /// equal, because a packet id may be reused for another message.
    mutating func find(_ received: ReceivedMessage, in queue: [JobQueue.JobID: JobQueue.Job]) -> Finding {
        guard received.isDuplicate, let packetID = received.packetID else { return .new }
        let message = received.message()
        if let id = jobs[packetID], queue[id]?.message?.contentHash == message.contentHash { return .again(id) }
        guard handled[packetID] == message.contentHash else { return .new }
        handled[packetID] = nil
        return .handled
    }

    /// Records that this job belongs to the message.
    mutating func note(_ received: ReceivedMessage, _ id: JobQueue.JobID) {
        guard received.ticket != nil, let packetID = received.packetID else { return }
        jobs[packetID] = id
        if !handled.isEmpty { handled[packetID] = nil }
    }

    /// Forgets that this job belongs to the message.
    mutating func forget(_ received: ReceivedMessage?, _ id: JobQueue.JobID) {
        guard let packetID = received?.packetID, jobs[packetID] == id else { return }
        jobs[packetID] = nil
    }

    /// Records that a handled message could not be acknowledged, because the connection had ended.
    mutating func couldNotAcknowledge(_ received: ReceivedMessage) {
        if let packetID = received.packetID { handled[packetID] = received.message().contentHash }
    }
}

extension Message {
    /// A hash of the fields that are equal when the broker sends the message again.
    fileprivate var contentHash: Int {
        var hasher = Hasher()
        hasher.combine(topic)
        hasher.combine(qos)
        withBytes { bytes in bytes.withUnsafeBytes { hasher.combine(bytes: $0) } }
        return hasher.finalize()
    }
}
