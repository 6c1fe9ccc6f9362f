import CourierMQTT
import Foundation

extension Conversation {
    /// Conversations about features that only MQTT 5 has.
    static let version5 = [
        Conversation("properties of a message", need: .version5) { meeting in
            let reader = try await meeting.reader(of: "properties")
            let writer = try await meeting.connectedParty("writer")
            let properties = MessageProperties(
                contentType: "text/plain", payloadFormat: .utf8, responseTopic: meeting.topic("answers"),
                correlationData: Data([0, 255, 1]),
                userProperties: [.init("b", "1"), .init("a", "ü"), .init("b", "2")])
            try await writer.client.publish(
                "hello", to: meeting.topic("properties"), qos: .one, properties: properties)
            let message = try await reader.messages.first(1)[0]
            try check(message.properties == properties, "\(message.properties) came")
        },
        Conversation("a question and its answer", need: .version5) { meeting in
            let server = try await meeting.connectedParty("server")
            let client = try await meeting.connectedParty("client")
            let questions = meeting.topic("questions")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await server.client.respond(to: questions) { (question: String) in question.uppercased() }
                }
                try await server.subscribed(moreThan: 0)
                for word in ["ada", "grace"] {
                    let answer: String = try await client.client.request(word, to: questions, timeout: .seconds(60))
                    try check(answer == word.uppercased(), "the answer to \(word) is \(answer)")
                }
                group.cancelAll()
            }
        },
    ]
}
