import CourierMQTT

/// Shows the devices of a broker, with the colors of their alerts.
@MainActor struct Viewer {
    let broker: Broker
    let display: Display

    /// Runs until the task is cancelled.
    func run() async throws {
        // Each `%` is replaced by a random letter or digit, so that several viewers can be connected at the same time.
        let client = broker.client(id: "motions_%%%%")
        let failures = display.follow(client)
        defer { failures.cancel() }
        client.connect()
        try await client.connected()
        display.tell("connected; waiting for devices on \(try Topics.motion.filter)")
        try await withThrowingTaskGroup { group in
            group.addTask { try await showMotions(client) }
            group.addTask { try await showAlerts(client) }
            try await group.waitForAll()
        }
        await client.disconnectAndWait()
    }

    private func showMotions(_ client: any CourierClient) async throws {
        for try await motion in client.messages(from: Topics.motion) { display.moved(motion) }
    }

    /// Shows alerts. The loop reads undecoded messages, because only the topic contains the device id.
    private func showAlerts(_ client: any CourierClient) async throws {
        let filter = try Topics.alert.filter.description
        for try await message in client.messages(Message.self, from: filter, qos: Topics.alert.qos) {
            guard let deviceID = try? Topics.deviceID(in: message.topic, of: Topics.alert) else { continue }
            display.alerted(deviceID, AlertColor(message.payloadString ?? ""))
        }
    }
}
