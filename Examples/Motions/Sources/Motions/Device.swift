import CourierMQTT

/// The Motions app: tells how it is held, and changes its colour when it is alerted.
@MainActor struct Device {
    let settings: Settings
    let broker: Broker
    let display: Display
    /// Whether the display is this device's own, or a viewer shows what it publishes.
    let showsItself: Bool

    /// Runs until its messages are sent or the task is cancelled.
    func run() async throws {
        let id = settings.deviceID
        let client = broker.client(id: id)
        let failures = showsItself ? display.follow(client) : nil
        defer { failures?.cancel() }
        client.connect()
        try await client.connected()

        // First somebody who reads, then the subscription, so that no alert finds nobody.
        let alertTopic = Topics.alert(device: id)
        let alerts = client.messagePublisher(topic: try alertTopic.filter.description).sink { (color: String) in
            if showsItself { display.alerted(id, AlertColor(color)) }
        }
        defer { alerts.cancel() }
        let granted = try await client.subscribe(SubscriptionRequest(topic: alertTopic.template, qos: alertTopic.qos))
        if showsItself { display.tell("connected; subscribed to its alerts with QoS \(granted.rawValue)") }

        try? await publish(client)

        try? await client.unsubscribe(from: alertTopic.template)
        await client.disconnectAndWait()
    }

    private func publish(_ client: any CourierClient) async throws {
        var sensor = MotionSensor(isRecorded: settings.isRecorded)
        var sent = 0
        while sent < settings.count {
            let motion = Motion(deviceID: settings.deviceID, attitude: sensor.next())
            if showsItself { display.moved(motion) }
            do {
                // The broker keeps the last one for viewers that come later.
                try await client.publish(motion, to: Topics.motion(device: motion.deviceID), retain: true)
            } catch let error as CourierError {
                if showsItself { display.tell("not sent: \(error.message)") }  // The next one is sent.
            }
            sent += 1
            if sent < settings.count { try await Task.sleep(for: settings.interval) }
        }
    }
}
