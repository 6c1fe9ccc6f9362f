import CourierCore
import CourierSQLite
import CourierTesting
import CourierTransport
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CourierMQTT

/// The effect of `isMessagePersistenceEnabled` if the app sets no `messageStore`.
@Suite(.timeLimit(.minutes(5))) struct PersistenceTests {
    /// Answers only when the test allows this, like a provider that uses a slow network.
    private final class PatientProvider: ConnectionServiceProvider {
        let clientID: String
        private let answers: AsyncStream<ConnectOptions>
        private let continuation: AsyncStream<ConnectOptions>.Continuation

        init(_ clientID: String) {
            self.clientID = clientID
            (answers, continuation) = AsyncStream.makeStream()
        }

        func answer(_ options: ConnectOptions) { continuation.yield(options) }

        func connectOptions() async throws -> ConnectGrant {
            guard let options = await answers.first(where: { _ in true }) else { throw CancellationError() }
            return ConnectGrant(options)
        }
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func change(_ config: inout MQTTClientConfig) {
        config.isMessagePersistenceEnabled = true
        config.environmentVariables = ["XDG_STATE_HOME": folder.path]
        config.session.storeName = "app"
    }

    private func test(
        _ options: ConnectOptions, _ further: (inout MQTTClientConfig) -> Void = { _ in }
    ) throws -> TestClient {
        try TestClient(options) {
            change(&$0)
            further(&$0)
        }
    }

    /// A client from the factory. It connects to a port without a listener.
    private func made(
        _ id: String, log: (any LogHandler)? = nil, _ further: (inout MQTTClientConfig) -> Void = { _ in }
    ) -> any CourierClient {
        var config = MQTTClientConfig(options: .local(1, id: id))
        config.deliveryQueue = DispatchQueue(label: "persistence")
        config.logHandler = log
        change(&config)
        further(&config)
        let client = CourierClientFactory().makeMQTTClient(config: config)
        client.connect()
        return client
    }

    private var place: StorePlace {
        get throws { try StorePlace(program: "app", environment: ["XDG_STATE_HOME": folder.path]) }
    }

    /// The number of outgoing messages in the store file of a client id.
    private func stored(_ id: String) throws -> Int {
        let inspector = try SQLiteStoreInspector(at: try place.file(of: id))
        return try inspector.scopes().first { $0.scope.clientID == id }?.summary.outgoingCount ?? 0
    }

    private func expect(
        _ code: CourierError.Code, _ words: [String], from client: any CourierClient,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        func check(_ error: CourierError?) {
            #expect(error?.code == code, sourceLocation: sourceLocation)
            for word in words {
                #expect(
                    error?.message.contains(word) == true, "\(error?.message ?? "")", sourceLocation: sourceLocation)
            }
        }
        check(await #expect(throws: CourierError.self, sourceLocation: sourceLocation) { try await client.connected() })
        check(
            await #expect(throws: CourierError.self, sourceLocation: sourceLocation) {
                try await client.enqueue("x", to: "t")
            })
        check(
            #expect(throws: CourierError.self, sourceLocation: sourceLocation) {
                try client.publishMessage("x", topic: "t", qos: .one)
            })
        let (reasons, continuation) = AsyncStream<String>.makeStream()
        let subscription = client.eventPublisher.sink { event in
            if case .connectDiscarded(let reason) = event.type { continuation.yield(reason) }
        }
        client.connect()
        let reason = await reasons.first { _ in true } ?? ""
        subscription.cancel()
        for word in words { #expect(reason.contains(word), "\(reason)", sourceLocation: sourceLocation) }
    }

    // MARK: It works

    @Test func `enqueue() returns when the message is stored, even if the provider has not returned credentials yet`()
        async throws
    {
        let broker = try LoopbackBroker.start()
        let provider = PatientProvider("ada")
        let test = try TestClient(MQTTClientConfig(provider: provider)) { change(&$0) }
        var texts = test.client.messages(String.self, from: "t").makeAsyncIterator()
        test.client.connect()
        try await test.client.enqueue("x", to: "t")
        #expect(try stored("ada") == 1)
        provider.answer(.local(broker.port, id: "ada"))
        #expect(try await texts.next() == "x")
        try await test.end()
        await broker.shutdown()
    }

    @Test func `a new client with the same client id sends the stored messages of the previous client once`()
        async throws
    {
        let broker = try LoopbackBroker.start()
        do {
            let test = try test(.local(1, id: "ada"))
            test.client.connect()
            for number in 1...3 { try await test.client.enqueue("\(number)", to: "t") }
        }
        do {
            let test = try test(.local(broker.port, id: "ada")) { $0.topics = ["t": .one] }
            var texts = test.client.messages(String.self, from: "t").makeAsyncIterator()
            try await test.connect()
            for number in 1...3 { #expect(try await texts.next() == "\(number)") }
            try await test.client.publish("4", to: "t")
            #expect(try await texts.next() == "4")
            try await test.end()
        }
        // Waits for the last steps of the former client.
        _ = try await ClientStore(at: place.file(of: "ada"), of: "ada") { _ in }
            .summary(of: StoreScope(.local(1, id: "ada")))
        #expect(try stored("ada") == 0)
        await broker.shutdown()
    }

    @Test func `no store file is created if isMessagePersistenceEnabled is false`() async throws {
        let client = made("ada") { $0.isMessagePersistenceEnabled = false }
        try await client.enqueue("x", to: "t")
        #expect(!FileManager.default.fileExists(atPath: folder.file("app")))
    }

    @Test func `a messageStore that the app sets is used instead of the default store file`() async throws {
        let store = MemoryMessageStore()
        let client = made("ada") { $0.messageStore = store }
        try await client.enqueue("x", to: "t")
        #expect(await store.summary(of: StoreScope(.local(1, id: "ada"))).outgoingCount == 1)
        #expect(!FileManager.default.fileExists(atPath: folder.file("app")))
    }

    @Test func `only the owner can read the store folder and its files`() async throws {
        let client = made("ada")
        try await client.enqueue("x", to: "t")
        func permissions(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        #expect(try permissions(folder.file("app")) == 0o700)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("app"))
        #expect(names.count >= 2)
        for name in names { #expect(try permissions(folder.file("app/\(name)")) == 0o600, "\(name)") }
    }

    @Test func `clients with different client ids use separate store files`() async throws {
        let (ada, bob) = (made("ada"), made("bob"))
        try await ada.enqueue("x", to: "t")
        try await bob.enqueue("x", to: "t")
        try await bob.enqueue("y", to: "t")
        #expect(try stored("ada") == 1)
        #expect(try stored("bob") == 2)
    }

    @Test func `destroy() removes the stored messages of the client`() async throws {
        let client = made("ada")
        try await client.enqueue("x", to: "t")
        client.destroy()
        client.connect()
        try await client.enqueue("y", to: "t")
        #expect(try stored("ada") == 1)
    }

    // MARK: It fails

    @Test func `a second client with the same client id fails with storeInUse and names the store file`() async throws {
        let first = made("ada")
        try await first.enqueue("x", to: "t")
        let log = WarningLog()
        let second = made("ada", log: log)
        let words = ["\"ada\"", try place.file(of: "ada").path, "End that client first"]
        await expect(.storeInUse, words, from: second)
        #expect(log.warnings.count == 1)
        for word in words { #expect(log.warnings.first?.contains(word) == true) }
        try await first.enqueue("y", to: "t")
        #expect(try stored("ada") == 2)
    }

    @Test func `a new client can use the store file of a released client with the same client id`() async throws {
        var first: (any CourierClient)? = made("ada")
        try await first?.enqueue("x", to: "t")
        first = nil
        let second = made("ada")
        try await second.enqueue("y", to: "t")
        #expect(try stored("ada") == 2)
    }

    @Test func `the store file is closed even if the app retains publishers and messages of the ended client`()
        async throws
    {
        let broker = try LoopbackBroker.start()
        let log = WarningLog()
        var kept: [Any] = []
        do {
            let test = try test(.local(broker.port, id: "ada")) {
                $0.topics = ["t": .one]
                $0.messagePersistenceTTLSeconds = 60
            }
            let (messages, continuation) = AsyncStream<Message>.makeStream()
            kept.append(test.client.messagePublisher().sink { continuation.yield($0) })
            kept.append(test.client.eventPublisher.sink { _ in })
            kept.append(test.client.connectionStatePublisher)
            try await test.connect()
            try await test.client.publish("x", to: "t")
            kept.append(await messages.first { _ in true } as Any)
            try await test.end()
        }
        let test = try test(.local(broker.port, id: "ada")) { $0.logHandler = log }
        try await test.connect()
        try await test.client.publish("y", to: "t")
        #expect(log.warnings.isEmpty, "\(log.warnings)")
        try await test.end()
        await broker.shutdown()
        withExtendedLifetime(kept) {}
    }

    @Test func `persistence fails with invalidConfiguration if XDG_STATE_HOME and HOME are not set`() async throws {
        let client = made("ada") { $0.environmentVariables = [:] }
        await expect(.invalidConfiguration, ["XDG_STATE_HOME", "HOME"], from: client)
    }

    @Test func `persistence fails with invalidConfiguration if the client id is empty`() async throws {
        var config = MQTTClientConfig(provider: PatientProvider(""))
        config.logHandler = nil
        change(&config)
        let client = CourierClientFactory().makeMQTTClient(config: config)
        await expect(.invalidConfiguration, ["client id", "stays the same"], from: client)
    }

    @Test func `persistence fails with storeFailed and the path if the store folder cannot be created`() async throws {
        let file = folder.file("file")
        try "".write(toFile: file, atomically: true, encoding: .utf8)
        let client = made("ada") { $0.environmentVariables = ["XDG_STATE_HOME": file] }
        await expect(.storeFailed, [file + "/app"], from: client)
    }

    @Test func `validate() creates no store file, and throws if storeName contains a slash`() throws {
        var config = MQTTClientConfig(options: .local(1, id: "ada"))
        change(&config)
        try CourierClientFactory().validate(config)
        #expect(!FileManager.default.fileExists(atPath: folder.file("app")))
        config.session.storeName = "a/b"
        #expect(throws: CourierError.self) { try CourierClientFactory().validate(config) }
    }

    // MARK: What others have left

    /// Stores a message like a client with this id. The file is closed when the call returns. A client itself would close its
    /// file only some time after its last reference is released.
    private func leaveMessage(of id: String) async throws {
        let store = try SQLiteMessageStore(at: place.file(of: id))
        let client = made(id) {
            $0.messageStore = store
            $0.session.storeScope = StoreScope(clientID: id, broker: StorePlace.broker)
        }
        try await client.enqueue("x", to: "t")
        await store.close()
    }

    @Test(arguments: ["new id", "new name"])
    func `if the client id or store name changes, the log warns about messages in the old store file`(change: String)
        async throws
    {
        try await leaveMessage(of: "ada")
        let log = AwaitedLog()
        let client = made(change == "new id" ? "bob" : "ada", log: log) {
            if change == "new name" { $0.session.storeName = "app-2" }
        }
        let file = try place.file(of: "ada").path
        let warning = try #require(await log.warning(with: "No program has this file open"))
        #expect(warning.contains("Number of messages: 1. Client id: \"ada\"") && warning.contains(file), "\(warning)")
        #expect(try stored("ada") == 1)
        withExtendedLifetime(client) {}
    }

    @Test func `a damaged store file is replaced by a new file, and the log warns about it`() async throws {
        let file = try place.file(of: "ada")
        try await leaveMessage(of: "ada")
        try Data(repeating: 7, count: 20_000).write(to: file)
        let log = AwaitedLog()
        let client = made("ada", log: log)
        try await client.enqueue("y", to: "t")
        let warning = try #require(await log.warning(with: "damaged"))
        #expect(warning.contains(file.path), "\(warning)")
        #expect(try stored("ada") == 1)
    }
}
