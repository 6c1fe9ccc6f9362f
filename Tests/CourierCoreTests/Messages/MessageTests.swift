import CourierCore
import Foundation
import TestSupport
import Testing

@Suite struct MessageTests {
    @Test func `each QoS has a distinct raw value and the wire level 0, 1 or 2`() {
        #expect(QoS.allCases.map(\.wireLevel) == [0, 1, 2, 1, 1])
        #expect(QoS.allCases.allSatisfy { QoS(rawValue: $0.rawValue) == $0 })
        #expect(QoS.allCases.filter(\.isPersisted) == [.one, .two])
        #expect(QoS.allCases.filter(\.isRetried) == [.one, .two, .oneWithoutPersistenceAndRetry])
    }

    @Test func `payloadString returns UTF-8 text or nil, and a description omits the payload`() {
        let text = Message(data: Data("hallo".utf8), topic: "a/b", qos: .one, isRetained: true)
        #expect(text.payloadString == "hallo")
        #expect(text.payload == text.data)
        #expect("\(text)" == "Message(\"a/b\", qos: one, 5 bytes, retained)")
        #expect(Message(data: Data([0xFF]), topic: "a", qos: .zero).payloadString == nil)
    }

    @Test func `print and dump hide the payload of received, stored and rejected messages`() {
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

    @Test func `the text of a log message is created only if its level is enabled`() {
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
