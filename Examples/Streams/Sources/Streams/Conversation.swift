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
        tell("connected", "to a peer that takes and gives \(Peer.biteSize) bytes at a time")

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
            try check(text == "message \(number)", "message \(number) came in as \(text ?? "nothing")")
        }
        let takenCount = peer.taken.bytes - before.bytes
        try check(takenCount <= Peer.biteSize, "the peer took \(takenCount) bytes while it held still")
        tell("stuck", "\(size) bytes published; the peer holds still, \(peer.waitingCount) of them wait in the stream")
        tell("not blocked", "\(Self.smallCount) messages came in meanwhile")

        peer.release()
        let arrived = try await atOffice.next()?.payload
        try check(arrived == Data(Self.largePayload), "what arrived is not what was published")
        for await result in receipts.prefix(1) { _ = try result.get() }
        let bites = peer.taken.bites - before.bites
        try check(bites >= size / Peer.biteSize, "the peer took it in \(bites) bites")
        tell("resumed", "the peer took the rest, in \(bites) bites; it arrived whole and is acknowledged")

        // Test the other direction: the client must put the packet together from many small reads.
        let given = peer.given
        try await office.publish(Data(Self.largePayload), to: "to/accessory")
        let received = try await atAccessory.next()?.payload
        try check(received == Data(Self.largePayload), "what came in is not what was published")
        tell("put together", "\(size) bytes came in whole, in \(peer.given.bites - given.bites) bites")

        for client in [accessory, office] { await client.disconnectAndWait() }
        await peer.ended()
        tell("closed", "both directions have ended in order")
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

    private func tell(_ what: String, _ how: String) {
        Streams.say("  \(what.padding(toLength: 14, withPad: " ", startingAt: 0))\(how)")
    }

    private func check(_ isTrue: Bool, _ complaint: @autoclosure () -> String) throws {
        if !isTrue { throw Broken(description: complaint()) }
    }
}
