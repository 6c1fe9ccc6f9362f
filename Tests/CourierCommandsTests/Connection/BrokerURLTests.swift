import CommandArguments
import Testing

@testable import CourierCommands

struct BrokerURLTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let text: String
        let host: String
        let port: Int
        let topic: String
        var username: String?
        var password: String?
        var isSecure = false
        var isWebSocket = false
        var testDescription: String { text }
    }

    @Test(arguments: [
        Row(text: "mqtt://h/t", host: "h", port: 1_883, topic: "t"),
        Row(text: "MQTT://h/a/b/c", host: "h", port: 1_883, topic: "a/b/c"),
        Row(text: "mqtts://h/t", host: "h", port: 8_883, topic: "t", isSecure: true),
        Row(text: "ws://h/t", host: "h", port: 1_883, topic: "t", isWebSocket: true),
        Row(text: "wss://h:443/t", host: "h", port: 443, topic: "t", isSecure: true, isWebSocket: true),
        Row(text: "mqtt://ada:se:cret@h:99/t", host: "h", port: 99, topic: "t", username: "ada", password: "se:cret"),
        Row(text: "mqtt://ada@h/t", host: "h", port: 1_883, topic: "t", username: "ada"),
        Row(text: "mqtt://:x@h/t", host: "h", port: 1_883, topic: "t", username: "", password: "x"),
        Row(text: "mqtt://[::1]:99/t", host: "[::1]", port: 99, topic: "t"),
        Row(text: "mqtt://[::1]/t", host: "[::1]", port: 1_883, topic: "t"),
        Row(text: "mqtt://h:70000/t", host: "h", port: 70_000, topic: "t"),
        Row(text: "mqtt://h:x/t", host: "h", port: 0, topic: "t"),
        Row(text: "mqtt://h/%20", host: "h", port: 1_883, topic: "%20"),
    ])
    func `a broker URL is parsed into host, port, topic, user and password`(row: Row) throws {
        let url = try BrokerURL(row.text)
        #expect(url.host == row.host && url.port == row.port && url.topic == row.topic)
        #expect(url.username == row.username && url.password == row.password)
        #expect(url.isSecure == row.isSecure && url.isWebSocket == row.isWebSocket)
    }

    @Test(arguments: [
        ("http://h/t", "unsupported URL scheme."), ("h/t", "unsupported URL scheme."), ("", "unsupported URL scheme."),
        ("mqtt://h", "Invalid URL for -L argument specified - topic missing."),
    ])
    func `a URL with an unknown scheme or without a topic is refused`(text: String, message: String) {
        #expect {
            try BrokerURL(text)
        } throws: { error in
            (error as? ArgumentError)?.message == message
        }
    }
}
