import CourierMQTT

extension Conversation {
    /// Conversations about connecting and refused connections.
    static let connecting = [
        Conversation("connects with MQTT 5", need: .version5) { try await $0.connect(.version5, expecting: .v5) },
        Conversation("connects with MQTT 3.1.1") { try await $0.connect(.version311, expecting: .v311) },
        Conversation("falls back from MQTT 5 to 3.1.1", need: .olderVersionsOnly) {
            try await $0.connect(.preferVersion5, expecting: .v311)
        },
        Conversation("a wrong password is refused", need: .explainsRefusal) { meeting in
            let party = meeting.party("liar", password: "wrong")
            party.client.connect()
            try await party.refused(because: .notAuthorized)
            try check(party.connectionCount == 0, "a client with a wrong password was let in")
        },
    ]
}

extension Meeting {
    /// Connects, receives its own message, and checks the MQTT version of the connection.
    fileprivate func connect(
        _ policy: ProtocolVersionPolicy, expecting version: ObservedConnection.ProtocolVersion
    ) async throws {
        let party = try await connectedParty("party") { $0.protocolVersion = policy }
        try await party.client.subscribe(to: topic("echo"), qos: .one)
        try await party.client.publish("hello", to: topic("echo"), qos: .one)
        let message = try await party.messages.first(1)[0]
        try check(message.payloadString == "hello", "\(message) came instead of the echo")
        let spoken = party.versions.all.last
        try check(spoken == version, "\(spoken.map { "\($0)" } ?? "nothing") is spoken")
    }
}
