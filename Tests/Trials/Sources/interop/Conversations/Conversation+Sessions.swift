import CourierMQTT

extension Conversation {
    /// Conversations about wills and sessions, after a lost connection.
    static let sessions = [
        Conversation("the will of a lost client") { meeting in
            let reader = try await meeting.reader(of: "wills")
            let (relay, way) = try meeting.relay()
            let party = try await meeting.connectedParty("mortal", by: way) {
                $0.will = WillMessage(topic: meeting.topic("wills"), text: "gone", qos: .one)
            }
            await relay.cut()
            try await party.lost()
            let message = try await reader.messages.first(1)[0]
            try check(message.payloadString == "gone" && message.topic == meeting.topic("wills"), "\(message) came")
        },
        Conversation("no will of a client that says goodbye", need: .forgetsWill) { meeting in
            let reader = try await meeting.reader(of: "wills")
            let party = try await meeting.connectedParty("mortal") {
                $0.will = WillMessage(topic: meeting.topic("wills"), text: "gone", qos: .one)
            }
            await party.client.disconnectAndWait()
            // If there were a will, the broker would publish it before it answers the next connection.
            let writer = try await meeting.connectedParty("writer")
            try await writer.client.publish("still here", to: meeting.topic("wills"), qos: .one)
            let message = try await reader.messages.first(1)[0]
            try check(message.payloadString == "still here", "\(message) came")
        },
        Conversation("a session outlives a cut, and nothing is lost") { meeting in
            let (relay, way) = try meeting.relay()
            let reader = try await meeting.reader(of: "waiting", by: way, keepsSession: true)
            let writer = try await meeting.connectedParty("writer")
            let numbers = (0..<200).map { "\($0)" }
            for number in numbers[..<50] {
                try await writer.client.publish(number, to: meeting.topic("waiting"), qos: .one)
            }
            try await reader.messages.wait { $0.count >= 50 }
            await relay.cut()
            try await reader.lost()
            for number in numbers[50...] {
                try await writer.client.publish(number, to: meeting.topic("waiting"), qos: .one)
            }
            await relay.mend()
            let messages = try await reader.messages.wait { $0.last?.payloadString == numbers.last }
            let fresh = messages.map(\.payloadString).removingRepetitions()
            try check(fresh == numbers, "\(fresh.count) of \(numbers.count) messages came, or in another order")
            try check(reader.subscribeCount == 1, "the broker did not keep the session: the client subscribed anew")
        },
        Conversation("what is sent while cut off arrives later, once at QoS 2", need: .qos2) { meeting in
            try await meeting.sendWhileCutOff(at: .two)
        },
        Conversation("what is sent while cut off arrives later at QoS 1") { meeting in
            try await meeting.sendWhileCutOff(at: .one)
        },
    ]

    /// Conversations about a restart of the broker.
    static let restarts = [
        Conversation("clients come back when the broker was restarted") { meeting in
            let reader = try await meeting.reader(of: "news")
            let writer = try await meeting.connectedParty("writer")
            try await writer.client.publish("before", to: meeting.topic("news"), qos: .one)
            try await reader.messages.wait { $0.count == 1 }
            let subscribeCount = reader.subscribeCount
            await meeting.broker.stop()
            try await reader.lost()
            try await writer.lost()
            async let away = writer.client.publish("away", to: meeting.topic("kept"), qos: .one, retain: true)
            try await meeting.broker.start()
            // The client subscribes again after every restart, because its session is clean.
            try await reader.subscribed(moreThan: subscribeCount)
            _ = try await away
            try await writer.client.publish("after", to: meeting.topic("news"), qos: .one)
            try await reader.messages.wait { $0.last?.payloadString == "after" }
            try await reader.client.subscribe(to: meeting.topic("kept"), qos: .one)
            try await reader.messages.wait { $0.last?.payloadString == "away" }
        }
    ]
}

extension Meeting {
    fileprivate func sendWhileCutOff(at qos: QoS) async throws {
        let reader = try await reader(of: "later", qos: qos)
        let (relay, way) = try relay()
        let writer = try await connectedParty("writer", by: way, keepsSession: true)
        await relay.cut()
        try await writer.lost()
        for number in 0..<100 { try await writer.client.enqueue("\(number)", to: topic("later"), qos: qos) }
        await relay.mend()
        let messages = try await reader.messages.wait { $0.last?.payloadString == "99" }
        let texts = messages.map(\.payloadString)
        try check(
            texts == (0..<100).map { "\($0)" }, "\(texts.count) messages came instead of 100, or in another order")
    }
}

extension [String?] {
    /// The texts without repetitions, because QoS 1 may deliver a message twice [MQTT-4.3.2-1].
    fileprivate func removingRepetitions() -> [String?] {
        var seen: Set<String?> = []
        return filter { seen.insert($0).inserted }
    }
}
