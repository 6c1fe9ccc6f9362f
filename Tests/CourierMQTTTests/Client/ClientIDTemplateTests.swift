import CourierCore
import CourierTesting
import Foundation
import MQTTCodec
import Synchronization
import Testing

@testable import CourierMQTT

/// Client ids that are written as a template, and the places where the resulting id is used.
@Suite(.timeLimit(.minutes(5))) struct ClientIDTemplateTests {
    private static let template = "app-%%%%%%%%"

    /// Keeps the log records about the configuration.
    private final class Log: LogHandler {
        private let kept = Mutex<[LogRecord]>([])

        var records: [LogRecord] { kept.withLock { $0 } }

        func log(_ record: LogRecord) {
            if record.source == "configuration" { kept.withLock { $0.append(record) } }
        }
    }

    @Test func `a client creates the same id from its template each time, and changes no other option`() throws {
        let settings = try ClientSettings(MQTTClientConfig(options: .local(1)))
        let end = Date(timeIntervalSince1970: 1_000)
        let filled = settings.filled(ConnectGrant(.local(1, id: Self.template, clean: true), expiresAt: end))
        #expect(filled == ConnectGrant(.local(1, id: filled.options.clientId, clean: true), expiresAt: end))
        #expect(!filled.options.clientId.contains("%"))
        #expect(settings.filled(ConnectGrant(.local(2, id: Self.template))).options.clientId == filled.options.clientId)
        for id in ["", "phone-7", "a-%u"] {
            let grant = ConnectGrant(.local(1, id: id))
            #expect(settings.filled(grant) == grant)
        }
    }

    @Test func `%c in a topic differs between two clients with the same client id template`() async throws {
        let broker = try LoopbackBroker.start()
        let tests = try (0..<2).map { _ in try TestClient(.local(broker.port, id: Self.template)) }
        let own = Topic<String>("to/%c")
        var readers = tests.map { $0.client.messages(from: own).makeAsyncIterator() }
        for test in tests {
            try await test.connect()
            try await test.wait(for: "subscribeSuccess")
        }
        for text in ["first", "second"] {
            for (number, test) in tests.enumerated() {
                try await test.client.publish("\(text) of \(number)", to: own)
            }
        }
        for number in tests.indices {
            #expect(try await readers[number].next() == "first of \(number)")
            #expect(try await readers[number].next() == "second of \(number)")
        }
        for test in tests { try await test.end() }
        await broker.shutdown()
    }

    @Test func `a client uses the same generated id in events and at every reconnect`() async throws {
        let broker = try LoopbackBroker.start()
        let test = try TestClient(.local(broker.port, id: Self.template))
        try await test.connect()
        try await test.wait(for: "connectionSuccess")
        let id = try #require(test.info?.clientId)
        try #require(id.hasPrefix("app-") && id.utf8.count == Self.template.utf8.count && !id.contains("%"))
        broker.disconnect(id)  // This call has an effect only if CONNECT contains this id.
        try await test.wait(for: "connectionSuccess", count: 2)
        #expect(test.info?.clientId == id)
        await test.client.disconnectAndWait()
        try await test.connect()
        try await test.wait(for: "connectionSuccess", count: 3)
        #expect(test.info?.clientId == id)
        try await test.end()
        await broker.shutdown()
    }

    @Test func `a new template gives a new client id, and the first template gives the first id again`() async throws {
        func options(_ id: String) -> ConnectOptions {
            ConnectOptions(
                host: "broker.invalid", port: 1883, keepAlive: 0, clientId: id, username: "", password: "")
        }
        let provider = ScriptedProvider(options("a-%%%%%%%%"), [.options(), .options(options("b-%%%%%%%%"))])
        try await ScriptedWorld.run([.connection([.refuse(.notAuthorized)])], provider: provider) { world in
            await world.connect()
            #expect(world.client.connectionState == .connected)
            world.client.disconnect()
            await world.run(for: .seconds(6))
            await world.connect()
            await world.run(for: .seconds(5))
            let ids = await world.broker.connections.compactMap(\.connect?.clientID)
            try #require(ids.count == 3)
            #expect(ids[0].hasPrefix("a-") && !ids[0].contains("%"))
            #expect(ids[1] == "b-\(ids[0].dropFirst(2))")
            #expect(ids[2] == ids[0])
            #expect(world.test.info?.clientId == ids[0])
        }
    }

    @Test(arguments: [ProtocolVersionPolicy.version5, .version311])
    func `publishing to a topic with %c throws if the broker chooses the client id`(
        _ version: ProtocolVersionPolicy
    ) async throws {
        let broker = try LoopbackBroker.start()
        let test = try TestClient(.local(broker.port, id: "", clean: true)) { $0.protocolVersion = version }
        try await test.connect()
        let error = await #expect(throws: CourierError.self) {
            try await test.client.publish("x", to: Topic<String>("to/%c"))
        }
        #expect(error?.code == .invalidTopicArgument)
        try await test.end()
        await broker.shutdown()
    }

    // MARK: With a message store

    @Test func `two clients with the same client id template store their messages in different store scopes`()
        async throws
    {
        let store = MemoryMessageStore()
        let tests = try (0..<2).map { _ in
            try TestClient(.local(1, id: Self.template)) { $0.messageStore = store }
        }
        var scopes: Set<StoreScope> = []
        for test in tests {
            test.client.connect()
            try await test.client.enqueue("x", to: "t")
            try await test.wait(for: "connectionAttempt")
            let info = try #require(test.info)
            scopes.insert(StoreScope(info))
        }
        #expect(scopes.count == 2)
        for scope in scopes { #expect(await store.summary(of: scope).outgoingCount == 1) }
        for test in tests { try await test.end() }
    }

    @Test func `a new client with the same template does not send the stored messages of an earlier client`()
        async throws
    {
        let store = MemoryMessageStore()
        let nobody = try TestClient(.local(1, id: Self.template)) { $0.messageStore = store }
        nobody.client.connect()
        try await nobody.client.enqueue("left", to: "t")
        try await nobody.wait(for: "connectionAttempt")
        let scope = StoreScope(try #require(nobody.info))
        try await nobody.end()

        let broker = try LoopbackBroker.start()
        let next = try TestClient(.local(1, id: Self.template)) {
            $0.messageStore = store
            $0.endpoint = { _ in broker.connectInMemory() }
        }
        try await next.connect()
        try await next.client.publish("new", to: "t")
        #expect(await store.summary(of: scope).outgoingCount == 1)
        try await next.end()
        await broker.shutdown()
    }

    @Test(arguments: [("app-%%%%", 1), ("phone-7", 0)])
    func `a client id template together with a message store logs a warning once`(
        _ id: String, _ count: Int
    ) async throws {
        let broker = try LoopbackBroker.start()
        let log = Log()
        let test = try TestClient(.local(broker.port, id: id)) {
            $0.messageStore = MemoryMessageStore()
            $0.logHandler = log
        }
        try await test.connect()
        await test.client.disconnectAndWait()
        try await test.connect()
        #expect(log.records.count == count)
        #expect(log.records.allSatisfy { $0.level == .warning && $0.clientID?.contains("%") == false })
        #expect(log.records.allSatisfy { $0.message.contains(id) && $0.message.contains("messageStore") })
        try await test.end()
        await broker.shutdown()
    }
}
