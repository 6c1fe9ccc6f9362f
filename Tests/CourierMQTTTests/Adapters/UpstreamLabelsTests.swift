import CourierCore
import CourierMQTT
import Foundation
import Testing

/// Calls with the argument labels of Courier iOS. The compiler prints no warning if a deprecated method is called
/// through a protocol.
private protocol Upstream: Sendable {
    func adapters(_ encoder: JSONEncoder) -> [any MessageAdapter]
    func plistAdapters() -> [any MessageAdapter]
    func event(_ options: ConnectOptions) -> CourierEvent
}

private struct Labels: Upstream {
    @available(*, deprecated)
    func adapters(_ encoder: JSONEncoder) -> [any MessageAdapter] {
        [
            JSONMessageAdapter(jsonDecoder: JSONDecoder(), jsonEncoder: encoder),
            JSONMessageAdapter(jsonEncoder: encoder),
            JSONMessageAdapter(jsonDecoder: JSONDecoder()), JSONMessageAdapter(),
        ]
    }

    @available(*, deprecated)
    func plistAdapters() -> [any MessageAdapter] {
        [
            PlistMessageAdapter(plistDecoder: PropertyListDecoder(), plistEncoder: PropertyListEncoder()),
            PlistMessageAdapter(plistEncoder: PropertyListEncoder()),
            PlistMessageAdapter(plistDecoder: PropertyListDecoder()), PlistMessageAdapter(),
        ]
    }

    @available(*, deprecated)
    func event(_ options: ConnectOptions) -> CourierEvent { CourierEvent(connectionInfo: options, event: .reconnect) }
}

@Suite struct UpstreamLabelsTests {
    private let upstream: any Upstream = Labels()

    @Test func `adapters can be created with the argument labels of Courier iOS`() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .prettyPrinted
        let texts = try upstream.adapters(encoder).map { try $0.toMessage(data: [1], topic: "t") }
        #expect(texts.map { $0.contains(UInt8(ascii: "\n")) } == [true, true, false, false])
        for adapter in upstream.plistAdapters() {
            let written = try adapter.toMessage(data: [1], topic: "t")
            #expect(try adapter.fromMessage(written, topic: "t") == [1])
        }
    }

    @Test func `an event can be created with the argument labels of Courier iOS`() {
        let options = ConnectOptions(host: "h", port: 1, clientId: "c")
        let event = upstream.event(options)
        #expect(event.connectionInfo == options)
        if case .reconnect = event.type {} else { Issue.record("\(event)") }
    }
}
