import CourierMQTT

/// The device of the Motions app: it publishes its attitude, and changes its color when it receives an alert.
@MainActor struct Device {
    let settings: Settings
    let broker: Broker
    let display: Display
    /// True if the display shows this device. False if a viewer shows the messages of the device.
    let showsItself: Bool

    /// Runs until all messages are sent or the task is cancelled.
    func run() async throws {
        let id = settings.deviceID
        let client = broker.client(id: id)
        let failures = showsItself ? display.follow(client) : nil
        defer { failures?.cancel() }
        client.connect()
        try await client.connected()

        // The reader is created before the subscription, so that every alert has a reader.
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
                // The message is retained, so that the broker sends it to viewers that connect later.
                try await client.publish(motion, to: Topics.motion(device: motion.deviceID), retain: true)
            } catch let error as CourierError {
                // The loop continues with the next message.
                if showsItself { display.tell("not sent: \(error.message)") }
            }
            sent += 1
            if sent < settings.count { try await Task.sleep(for: settings.interval) }
        }
    }
}
