import MQTTCodec

extension Probe {
    /// Connects for the first time, and returns the limits that the broker announces to MQTT 5 clients.
    static func greeting(_ context: ProbeContext) throws(LinkFailure) -> (
        outcome: ProbeOutcome, limits: AnnouncedLimits?
    ) {
        let start = ContinuousClock.now
        let client = try context.connect {
            if context.version >= .v5 { $0.properties = [.sessionExpiryInterval(TestPlan.sessionExpiry)] }
        }
        let time = Examination.text(start.duration(to: .now))
        let connAck = client.connAck
        let limits =
            context.version >= .v5
            ? AnnouncedLimits(
                connAck.properties, askedKeepAlive: TestPlan.keepAlive, askedSessionExpiry: TestPlan.sessionExpiry)
            : nil
        if connAck.isSessionPresent {
            let clause = context.name(Clause("3.2.2-1", v5: "3.2.2-2"))
            return (.violation("the broker reports an old session to a client that starts a new one", clause), limits)
        }
        return (.works("the broker accepts the connection (\(time))"), limits)
    }

    static let connecting: [Probe] = [
        Probe("ping", "ping", Clause("3.12.4-1"), run: ping),
        .v5("assignedClientID", "assigned client id", "3.1.3-7", run: assignedClientID),
        .v5("serverKeepAlive", "keep-alive", run: serverKeepAlive),
        .v5("responseInformation", "response information", run: responseInformation),
    ]

    private static func ping(_ context: ProbeContext) throws(LinkFailure) -> ProbeOutcome {
        let client = try context.connect()
        let start = ContinuousClock.now
        try client.ping()
        return .works("the broker answered after \(Examination.text(start.duration(to: .now)))")
    }

    private static func assignedClientID(_ context: ProbeContext) throws(LinkFailure) -> ProbeOutcome {
        let client: ProbeClient
        do throws(LinkFailure) {
            client = try context.connect("")
        } catch {
            // The broker may refuse an empty client id. [MQTT-3.1.3-6]
            guard error == .refused(.clientIdentifierNotValid) else { throw error }
            return .note("the broker refuses clients without a client id")
        }
        guard let id = client.connAck.properties.assignedClientIdentifier, !id.isEmpty else {
            return .violation("the broker does not report the client id that it assigns", "[MQTT-3.1.3-7]")
        }
        return .works("the broker assigns client ids, such as \(id.prefix(60))")
    }

    private static func serverKeepAlive(_ context: ProbeContext) throws(LinkFailure) -> ProbeOutcome {
        let client = try context.connect()
        guard let seconds = client.connAck.properties.serverKeepAlive else {
            return .works("the broker accepts the client's keep-alive interval")
        }
        return .note("the broker requires a keep-alive interval of \(seconds) seconds", announced: Int(seconds))
    }

    private static func responseInformation(_ context: ProbeContext) throws(LinkFailure) -> ProbeOutcome {
        let client = try context.connect { $0.properties = [.requestResponseInformation(true)] }
        guard let information = client.connAck.properties.responseInformation else {
            return .note("the broker sends no response information, which is allowed")
        }
        return .works("the broker sends the response information \(information.prefix(60))")
    }
}
