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
