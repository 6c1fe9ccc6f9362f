import MQTTCodec

extension Probe {
    static let resuming: [Probe] = [
        Probe("persistentSession", "persistent session", Clause("3.1.2-5", v5: "3.1.2-23"), run: persistentSession),
        Probe("will", "will message", Clause("3.1.2-8"), run: will),
    ]

    /// The largest number of messages for the offline client. It is small, because brokers limit their queues for
    /// offline clients.
    private static let mostOfflineMessages = 100

    private static func persistentSession(_ context: ProbeContext) throws(LinkFailure) -> ProbeOutcome {
        let topic = context.topic("offline")
        let id = context.newClientID()
        let qos = context.plan.reliableQoS
        let first = try context.resume(id)
        if context.version >= .v5, first.connAck.properties.sessionExpiryInterval == 0 {
            return .note("not available: the broker ends each session with its connection")
        }
        try first.subscribe(topic, qos)
        try context.leave(first, keepsSession: true)
        let count = min(context.plan.messageCount, mostOfflineMessages)
        let publisher = try context.connect()
        try publisher.publish(
            (1...count).map { ProbeClient.Message(topic: topic, payload: Array("\($0)".utf8), qos: qos) })
        let second = try context.resume(id)
        guard second.connAck.isSessionPresent else {
            return .violation(
                "the broker has lost the session of a client that was offline",
                context.name(Clause("3.2.2-2", v5: "3.2.2-3")))
        }
        if qos == .atMostOnce { return .note("the session is kept, but the broker accepts only messages of QoS 0") }
        do throws(LinkFailure) {
            try second.receive { ProbeClient.haveReceived(count, [second]) }
        } catch {
            guard error == .silent else { throw error }
            let arrived = Set(second.payloads).count
            return .violation(
                "only \(arrived) of \(count) messages arrived after the client was offline", context.name(.delivery),
                found: arrived)
        }
        return .works("\(count) of \(count) messages arrived after the client was offline", found: count)
    }

    private static func will(_ context: ProbeContext) throws(LinkFailure) -> ProbeOutcome {
        let topic = context.topic("will")
        let qos = context.plan.reliableQoS
        let watcher = try context.connect()
        try watcher.subscribe(topic, qos)
        func connect(_ payload: String) throws(LinkFailure) -> ProbeClient {
            try context.connect { $0.will = Connect.Will(topic: topic, payload: Array(payload.utf8), qos: qos) }
        }
        context.cut(try connect("cut"))
        do throws(LinkFailure) {
            try watcher.receive { !watcher.messages.isEmpty }
        } catch {
            guard error == .silent else { throw error }
            return .violation("the broker does not send the will after a cut connection", "[MQTT-3.1.2-8]")
        }
        try context.leave(try connect("left"))
        let publisher = try context.connect()
        try publisher.publish("end", to: topic, qos)
        try watcher.receive { watcher.payloads.contains("end") }
        return watcher.payloads.contains("left")
            ? .violation("the broker sends the will after DISCONNECT", context.name(Clause("3.14.4-3")))
            : .works("the broker sends the will after a cut connection, but not after DISCONNECT")
    }
}
