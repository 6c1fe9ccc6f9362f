import CourierCore
import Foundation
import TestSupport
import Testing

@Suite struct MessageTests {
    @Test func `the wire level of a quality of service is 0, 1 or 2, and the raw values are distinct`() {
        #expect(QoS.allCases.map(\.wireLevel) == [0, 1, 2, 1, 1])
        #expect(QoS.allCases.allSatisfy { QoS(rawValue: $0.rawValue) == $0 })
        #expect(QoS.allCases.filter(\.isPersisted) == [.one, .two])
        #expect(QoS.allCases.filter(\.isRetried) == [.one, .two, .oneWithoutPersistenceAndRetry])
    }

    @Test func `a payload is also text when it is UTF-8, and never in a description`() {
        let text = Message(data: Data("hallo".utf8), topic: "a/b", qos: .one, isRetained: true)
        #expect(text.payloadString == "hallo")
        #expect(text.payload == text.data)
        #expect("\(text)" == "Message(\"a/b\", qos: one, 5 bytes, retained)")
        #expect(Message(data: Data([0xFF]), topic: "a", qos: .zero).payloadString == nil)
    }

    @Test func `neither print nor dump shows the payload of a message, stored or not`() {
        let payload = Array("zebra".utf8)
        let stored = StoredMessage(
            id: StoredMessage.ID(rawValue: 7), topic: "a/b", payload: payload, qos: .one, isRetained: true,
            storedAt: Date(timeIntervalSinceReferenceDate: 0), isLatestOnly: true)
        let outgoing = StoredOutgoing(stored, .queued)
        let values: [Any] = [
            Message(data: Data(payload), topic: "a/b", qos: .one), stored, outgoing,
            StoreChange.enqueue(stored),
            RejectedMessage(outgoing, reason: "too large", rejectedAt: stored.storedAt),
        ]
        let bytes = payload.map(String.init).joined(separator: ", ")
        for value in values {
            var text = "\(value)" + String(reflecting: value)
            dump(value, to: &text)
            #expect(text.contains("a/b") && !text.contains("zebra"))
            for number in payload { #expect(!text.contains("\(number)"), "of \(bytes)") }
        }
        #expect("\(stored)" == "StoredMessage(7, \"a/b\", qos: one, 5 bytes, retained, latest only)")
    }

    @Test func `a log message is made only when its level is of interest`() {
        struct Log: LogHandler {
            let records = Series<LogRecord>()
            func log(_ record: LogRecord) { records.append(record) }
        }
        let log = Log()
        var made = 0
        func message() -> String {
            made += 1
            return "connected"
        }
        log.log(.debug, source: "test", message())
        log.log(.info, source: "test", clientID: "c", message())
        #expect(made == 1)
        #expect(
            log.records.values == [LogRecord(level: .info, source: "test", clientID: "c", message: "connected")])
    }
}
