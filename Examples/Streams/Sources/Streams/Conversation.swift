import CourierMQTT
import Foundation

/// Exchanges messages over one line, and checks the results.
struct Conversation {
    /// A payload that is larger than the buffer of any line.
    private static let largePayload = (0..<262_144).map { UInt8(truncatingIfNeeded: $0 * 31 ^ $0 >> 8) }
    private static let smallCount = 20

    struct Broken: Error, CustomStringConvertible { let description: String }

    let line: Line
    let brokerPort: UInt16

    func hold() async throws {
        Streams.say("\n\(line.kind.rawValue)")
        let (accessory, office) = (client("accessory", over: line), client("office"))
        for client in [accessory, office] { client.connect() }
        for client in [accessory, office] { try await client.connected() }
        guard let peer = line.peer else { throw Broken(description: "there is no peer") }
        report("connected", "to a peer that reads and writes \(Peer.biteSize) bytes at a time")

        let size = Self.largePayload.count
        var atAccessory = try await accessory.messages(Message.self, from: "to/accessory").subscribed()
            .makeAsyncIterator()
        var atOffice = try await office.messages(Message.self, from: "to/office").subscribed().makeAsyncIterator()

        // Publish a payload that is larger than the stream's buffer, while the peer reads nothing.
        peer.hold()
        let before = peer.taken
        let (receipts, receipt) = AsyncStream.makeStream(of: Result<PublishReceipt, CourierError>.self)
        try accessory.publish(bytes: Self.largePayload, to: "to/office") { receipt.yield($0) }

        for number in 1...Self.smallCount { try await office.publish("message \(number)", to: "to/accessory") }
        for number in 1...Self.smallCount {
            let text = try await atAccessory.next()?.payloadString
            try check(text == "message \(number)", "message \(number) arrived as \(text ?? "nothing")")
        }
        let takenCount = peer.taken.bytes - before.bytes
        try check(takenCount <= Peer.biteSize, "the peer read \(takenCount) bytes, although it had stopped reading")
        report("stuck", "the peer reads nothing of \(size) bytes; \(peer.waitingCount) bytes wait in the stream")
        report("not blocked", "\(Self.smallCount) messages arrived meanwhile")

        peer.release()
        let arrived = try await atOffice.next()?.payload
        try check(arrived == Data(Self.largePayload), "the broker received other bytes than the client published")
        for await result in receipts.prefix(1) { _ = try result.get() }
        let bites = peer.taken.bites - before.bites
        try check(bites >= size / Peer.biteSize, "the peer read the message in only \(bites) parts")
        report("resumed", "the peer read the other bytes in \(bites) parts; the message is complete and acknowledged")

        // Test the other direction: the client must put the packet together from many small reads.
        let given = peer.given
        try await office.publish(Data(Self.largePayload), to: "to/accessory")
        let received = try await atAccessory.next()?.payload
        try check(received == Data(Self.largePayload), "the client received other bytes than were published")
        let parts = peer.given.bites - given.bites
        report("put together", "\(size) bytes arrived in \(parts) parts, and the message is complete")

        for client in [accessory, office] { await client.disconnectAndWait() }
        await peer.ended()
        report("closed", "both directions are closed")
    }

    private func client(_ id: String, over line: Line? = nil) -> any CourierClient {
        let options = ConnectOptions(
            host: "127.0.0.1", port: brokerPort, clientId: id + "_%%%%", username: "", password: "",
            isCleanSession: true)
        var config = MQTTClientConfig(options: options)
        // All connections are local, so no network is needed.
        config.environment.networkMonitor = AlwaysAvailableNetwork()
        if let line { config.endpoint = { _ in line.endpoint() } }
        return CourierClientFactory().makeMQTTClient(config: config)
    }

    private func report(_ promise: String, _ result: String) {
        Streams.say("  \(promise.padding(toLength: 14, withPad: " ", startingAt: 0))\(result)")
    }

    private func check(_ isTrue: Bool, _ complaint: @autoclosure () -> String) throws {
        if !isTrue { throw Broken(description: complaint()) }
    }
}
