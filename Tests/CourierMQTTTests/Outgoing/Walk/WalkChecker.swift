import CourierCore

/// The promises that a walk checks. A rule can be omitted, so that the other rules are checked alone.
struct WalkRules: OptionSet, Sendable {
    let rawValue: Int

    /// Each accepted publish ends once.
    static let ends = WalkRules(rawValue: 1 << 0)
    /// Messages of one topic and quality of service are first sent in a session in the order of their publishes.
    static let order = WalkRules(rawValue: 1 << 1)
    /// No more messages wait than the policy allows.
    static let limits = WalkRules(rawValue: 1 << 2)
    /// No message is sent for the first time after it has expired.
    static let ages = WalkRules(rawValue: 1 << 3)
    /// No message is sent after it ended.
    static let endings = WalkRules(rawValue: 1 << 4)
    /// No more messages are in flight than the broker and the client allow.
    static let quota = WalkRules(rawValue: 1 << 5)
    /// Within one session QoS 2 arrives once, and DUP marks repetitions and nothing else.
    static let repetition = WalkRules(rawValue: 1 << 6)
    /// Each message that ended with success has arrived.
    static let delivery = WalkRules(rawValue: 1 << 7)

    static let all: WalkRules = [.ends, .order, .limits, .ages, .endings, .quota, .repetition, .delivery]
    static let names: [(String, WalkRules)] = [
        ("ends", .ends), ("order", .order), ("limits", .limits), ("ages", .ages), ("endings", .endings),
        ("quota", .quota), ("repetition", .repetition), ("delivery", .delivery),
    ]
}

/// A violated promise.
struct WalkViolation: Error, CustomStringConvertible {
    let rule: WalkRules
    let message: String

    var description: String {
        let name = WalkRules.names.first { $0.1 == rule }?.0 ?? "?"
        return "\(name): \(message)"
    }
}

/// Reads a transcript, and finds the first violated promise. It is a simple model of the client's rules: an array of
/// messages with their visible states.
struct WalkChecker {
    /// The visible state of one message.
    private struct MessageRecord {
        var isOffered = false
        var end: WalkEnd?
        var isRefused = false
        var reports = 0
        /// The number of sessions that were destroyed before the publish.
        var epoch = 0
        var offeredAt = Duration.zero
        /// The session and the connection in which it was last sent.
        var lastSession: Int?
        var lastConnection: Int?
        /// True if the client has read the broker's answer to the PUBLISH.
        var isAnswered = false

        var isOpen: Bool { isOffered && !isRefused && end == nil }
    }

    private let messages: [WalkMessage]
    private let plan: WalkPlan
    private let rules: WalkRules
    private var records: [MessageRecord]
    private var epoch = 0
    private var session = 0
    private var connection = 0
    private var connectionEpoch = 0
    /// True if bytes of the client, or the CONNACK of a new session, may have been lost while the broker did not read.
    private var hasHiddenWrites = false
    /// True if the client may have written to this connection before the broker noticed the connection.
    private var isLate = false
    /// True if the client has ended the connection and ignores later bytes.
    private var isLeft = false
    private var receiveMaximum = 0
    private var inFlight: [UInt16: Int] = [:]
    private var now = Duration.zero
    private var lastFirst: [Lane: Int] = [:]

    /// Messages that must keep their order.
    private struct Lane: Hashable {
        let topic: String
        let qos: QoS
    }

    private init(_ messages: [WalkMessage], _ plan: WalkPlan, _ rules: WalkRules) {
        self.messages = messages
        self.plan = plan
        self.rules = rules
        records = Array(repeating: MessageRecord(), count: messages.count)
    }

    /// Returns the first violated promise in the transcript.
    static func violation(
        in lines: [WalkTranscript.Line], _ messages: [WalkMessage], _ plan: WalkPlan, _ rules: WalkRules = .all
    ) -> (line: Int, violation: WalkViolation)? {
        var checker = WalkChecker(messages, plan, rules)
        for (index, line) in lines.enumerated() {
            do throws(WalkViolation) {
                checker.now = line.time
                try checker.check(line.entry)
            } catch {
                return (index, error)
            }
        }
        return nil
    }

    private func require(
        _ rule: WalkRules, _ condition: Bool, _ message: @autoclosure () -> String
    ) throws(WalkViolation) {
        if rules.contains(rule), !condition { throw WalkViolation(rule: rule, message: message()) }
    }

    private mutating func check(_ entry: WalkEntry) throws(WalkViolation) {
        switch entry {
        case .offered(let number):
            records[number].isOffered = true
            records[number].epoch = epoch
            records[number].offeredAt = now
        case .refused(let number, _): records[number].isRefused = true
        case .ended(let number, let end): try checkEnd(number, end)
        case .reported(let number, _):
            records[number].reports += 1
            try require(.ends, records[number].reports == 1, "events report the end of \(number) twice")
        case .connected(let receiveMaximum, let isSessionPresent):
            connection += 1
            connectionEpoch = epoch
            (isLate, isLeft) = (false, false)
            inFlight = [:]
            self.receiveMaximum = receiveMaximum
            if !isSessionPresent {
                session += 1
                lastFirst = [:]
            }
        case .sent(let number, let packetID, let isDuplicate): try checkSent(number, packetID, isDuplicate)
        case .answered(let number): if !isLeft { records[number].isAnswered = true }
        case .completed(let packetID): inFlight[packetID] = nil
        case .stalled: (hasHiddenWrites, isLate) = (true, true)
        case .disconnected: isLeft = true
        case .destroyed: epoch += 1
        case .settled: try checkLimits()
        case .finished: try checkFinished()
        }
    }

    // MARK: Ends

    private mutating func checkEnd(_ number: Int, _ end: WalkEnd) throws(WalkViolation) {
        let record = records[number]
        try require(.ends, record.end == nil, "\(number) ended as \(end) after it had ended")
        try require(.ends, !record.isRefused, "\(number) ended as \(end), but its call had failed")
        records[number].end = end
        if end == .succeeded, messages[number].qos != .zero {
            try require(.delivery, record.isAnswered, "\(number) ended well, but the broker has not answered it")
        }
    }

    private func checkFinished() throws(WalkViolation) {
        for (number, record) in records.enumerated() where record.isOffered && !record.isRefused {
            let form = messages[number].form
            let isAnswered = form == .completion || form == .task
            try require(.ends, !isAnswered || record.end != nil, "\(number) has not ended")
            // If a session was destroyed, messages that were only in the store end without an event.
            let mayBeSilent = !plan.isListening || plan.hasStore && record.epoch < epoch || record.end == .cancelled
            try require(.ends, mayBeSilent || record.reports == 1, "no event reports the end of \(number)")
        }
    }

    // MARK: The broker

    private mutating func checkSent(
        _ number: Int, _ packetID: UInt16, _ isDuplicate: Bool
    ) throws(WalkViolation) {
        guard messages.indices.contains(number) else {
            throw WalkViolation(rule: .delivery, message: "\(number) was sent, and never published")
        }
        let (message, record) = (messages[number], records[number])
        let isFirstEver = record.lastSession == nil
        let isFirstInSession = record.lastSession != session
        records[number].lastSession = session
        records[number].lastConnection = connection

        try require(.endings, !record.isRefused, "\(number) was sent, but its call had failed")
        try require(.endings, record.epoch >= connectionEpoch, "\(number) was sent after destroy()")
        if !isLate, message.qos != .zero, let end = record.end, end != .cancelled {
            try require(.endings, false, "\(number) was sent after it had ended as \(end)")
        }
        // The DUP flag shows that the client has sent the message before, on a connection whose bytes the broker did
        // not read completely.
        let isHiddenRepetition = isDuplicate && hasHiddenWrites
        if isFirstEver, !isLate, !isHiddenRepetition, let age = message.age {
            let waited = now - record.offeredAt
            // The time that a caller waits for room does not count toward the age.
            try require(
                .ages, waited <= age || message.mayWaitForRoom,
                "\(number) was first sent after \(waited), but may wait \(age)")
        }
        if isFirstInSession { try checkOrder(number, message) }
        guard message.qos != .zero else { return }

        if message.qos == .oneWithoutPersistenceAndNoRetry {
            try require(.repetition, isFirstEver, "\(number) was sent again, but must not be retried")
        }
        if isFirstInSession {
            try require(.repetition, !isDuplicate || hasHiddenWrites, "\(number) has DUP the first time")
        } else {
            try require(.repetition, isDuplicate, "\(number) was sent again without DUP")
            try require(
                .repetition, record.lastConnection != connection, "\(number) was sent twice on one connection")
            if message.qos == .two {
                try require(.repetition, !record.isAnswered, "\(number) was sent again after PUBREC")
            }
        }
        try require(.quota, inFlight[packetID] == nil, "\(number) has packet id \(packetID), which is in use")
        inFlight[packetID] = number
        let quota = min(receiveMaximum, plan.maximumInFlight ?? .max)
        try require(.quota, inFlight.count <= quota, "\(inFlight.count) messages in flight, \(quota) allowed")
        if isFirstInSession { records[number].isAnswered = false }
    }

    private mutating func checkOrder(_ number: Int, _ message: WalkMessage) throws(WalkViolation) {
        // If a caller waits for room, only the client can know the position of the message.
        if message.mayWaitForRoom { return }
        let lane = Lane(topic: message.topic, qos: message.qos)
        if let last = lastFirst[lane] {
            try require(.order, last < number, "\(number) was first sent after \(last), to \(lane.topic)")
        }
        lastFirst[lane] = number
    }

    // MARK: Limits

    private func checkLimits() throws(WalkViolation) {
        var (count, bytes) = (0, 0)
        for (number, record) in records.enumerated() where record.isOpen && record.lastSession == nil {
            let message = messages[number]
            // Only the client can know whether the other messages wait. While the store stores its packet id, a QoS 2
            // message is in flight and does not count.
            guard message.qos != .zero, message.form == .completion || message.form == .task, !message.mayWaitForRoom,
                !(plan.hasStore && message.qos == .two)
            else { continue }
            count += 1
            bytes += message.byteCount + message.topic.utf8.count
        }
        // The client may have written messages that the broker has not read.
        let hidden = hasHiddenWrites ? receiveMaximum : 0
        let limit = plan.maximumCount + hidden
        try require(.limits, count <= limit, "\(count) messages wait, \(limit) allowed")
        let byteLimit = plan.maximumBytes + hidden * WalkPlan.largestMessage
        try require(.limits, bytes <= byteLimit, "\(bytes) bytes wait, \(byteLimit) allowed")
    }
}
