import CourierMQTT
import Foundation

extension Conversation {
    /// Conversations about publishing and receiving messages.
    static let messages = [
        Conversation("payloads at QoS 0") { try await $0.exchangePayloads(at: .zero) },
        Conversation("payloads at QoS 1") { try await $0.exchangePayloads(at: .one) },
        Conversation("payloads at QoS 2", need: .qos2) { try await $0.exchangePayloads(at: .two) },
        Conversation("QoS 2 is taken as QoS 1, and an event says so", need: .downgrade) { meeting in
            let reader = try await meeting.reader(of: "down", qos: .one)
            let writer = try await meeting.connectedParty("writer")
            for number in 0..<10 { try await writer.client.publish("\(number)", to: meeting.topic("down"), qos: .two) }
            let texts = try await reader.messages.first(10).map(\.payloadString)
            try check(texts == (0..<10).map { "\($0)" }, "\(texts) came")
            let told = writer.events.all.count { if case .deliveryDowngraded(.two, .one) = $0 { true } else { false } }
            try check(told == 1, "\(told) events tell of it")
        },
        Conversation("1,000 messages in order") { meeting in
            let reader = try await meeting.reader(of: "numbers")
            let writer = try await meeting.connectedParty("writer")
            for number in 0..<1_000 {
                try writer.client.publish(text: "\(number)", to: meeting.topic("numbers"), qos: .one)
            }
            let numbers = try await reader.messages.first(1_000).compactMap { $0.payloadString.flatMap { Int($0) } }
            try check(numbers == Array(0..<1_000), "the first out of order is \(numbers.firstOutOfOrder ?? -1)")
            try await meeting.expectNothingMore(than: 1_000, at: reader, from: writer, topic: "numbers")
        },
        Conversation("a retained message, and its removal") { meeting in
            let writer = try await meeting.connectedParty("writer")
            try await writer.client.publish("kept", to: meeting.topic("retained"), qos: .one, retain: true)
            let reader = try await meeting.reader("early", of: "retained")
            let message = try await reader.messages.first(1)[0]
            try check(message.payloadString == "kept" && message.isRetained, "\(message) came instead")
            try await writer.client.publish(Data(), to: meeting.topic("retained"), qos: .one, retain: true)
            let late = try await meeting.reader("late", of: "retained")
            try await meeting.expectNothingMore(than: 0, at: late, from: writer, topic: "retained")
        },
        Conversation("filters with + and #") { meeting in
            let writer = try await meeting.connectedParty("writer")
            let topics = ["a", "a/b", "a/b/c", "a/x/c", "b/b/c"]
            let matches = ["a/+/c": ["a/b/c", "a/x/c"], "a/#": ["a", "a/b", "a/b/c", "a/x/c"], "+/b": ["a/b"]]
            for (number, (filter, expected)) in matches.sorted(by: { $0.key < $1.key }).enumerated() {
                let reader = try await meeting.reader("reader-\(number)", of: filter)
                try await reader.client.subscribe(to: meeting.topic("end"), qos: .one)
                for name in topics + ["end"] {
                    try await writer.client.publish(filter, to: meeting.topic(name), qos: .one)
                }
                let messages = try await reader.messages.wait { $0.last?.topic == meeting.topic("end") }
                let names = messages.dropLast().map { String($0.topic.dropFirst(meeting.root.count + 1)) }
                try check(names == expected, "\(filter) got \(names)")
                reader.client.disconnect()
            }
        },
        Conversation("unsubscribing") { meeting in
            let reader = try await meeting.reader(of: "left")
            try await reader.client.subscribe(to: meeting.topic("kept"), qos: .one)
            let writer = try await meeting.connectedParty("writer")
            try await writer.client.publish("1", to: meeting.topic("left"), qos: .one)
            try await reader.messages.wait { $0.count == 1 }
            try await reader.client.unsubscribe(from: meeting.topic("left"))
            for name in ["left", "kept"] { try await writer.client.publish("2", to: meeting.topic(name), qos: .one) }
            let topics = try await reader.messages.first(2).map(\.topic)
            try check(topics == [meeting.topic("left"), meeting.topic("kept")], "messages of \(topics) came")
        },
    ]
}

extension Meeting {
    /// Payload sizes near the limits of the packet's length field, and one that does not fit into one read.
    private static let sizes = [0, 1, 127, 128, 16_384, 100_000]

    fileprivate func exchangePayloads(at qos: QoS) async throws {
        let reader = try await reader(of: "payloads", qos: qos)
        let writer = try await connectedParty("writer")
        let payloads = Self.sizes.map { size in
            Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ size) })
        }
        for payload in payloads { try await writer.client.publish(payload, to: topic("payloads"), qos: qos) }
        let messages = try await reader.messages.first(payloads.count)
        for (message, payload) in zip(messages, payloads) {
            try check(message.qos == qos, "\(message) came with another QoS")
            try check(message.data == payload, "\(message) came in the place of \(payload.count) bytes, or is changed")
        }
        try await expectNothingMore(than: payloads.count, at: reader, from: writer, topic: "payloads")
    }

    /// Sends one more message, and checks that no other message arrives before it.
    fileprivate func expectNothingMore(
        than count: Int, at reader: Party, from writer: Party, topic name: String
    ) async throws {
        try await writer.client.publish("the end", to: topic(name), qos: .one)
        let messages = try await reader.messages.wait { $0.last?.payloadString == "the end" }
        try check(messages.count == count + 1, "\(messages.count - 1) messages came instead of \(count)")
    }
}

extension [Int] {
    /// The first number that differs from its own position.
    fileprivate var firstOutOfOrder: Int? { enumerated().first { $0.offset != $0.element }?.element }
}
