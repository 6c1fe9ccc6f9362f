import CommandArguments
package import CourierCore
package import CourierMQTT
import CourierMQTTChuck
import CourierMQTTChuckWeb
import CourierSQLite
package import Dispatch
import Foundation

/// The client of one command, with its queue, packet observer, message store and inspector.
///
/// All callbacks of the client run on ``queue``.
package final class CommandConnection: Sendable {
    /// The callbacks of a command.
    package struct ClientCallbacks: Sendable {
        /// Receives every event of the client, on the queue.
        package var event: @Sendable (CourierEventType) -> Void = { _ in }
        /// Receives messages that the broker refused, on the queue.
        package var refusedPublish: @Sendable (ConnectionWatch.RefusedPublish) -> Void = { _ in }
        /// Called on the queue for each debug line that the output no longer accepts.
        package var outputClosed: @Sendable () -> Void = {}

        package init() {}
    }

    /// The serial queue of all callbacks.
    package let queue: DispatchQueue
    /// The client.
    package let client: any CourierClient
    /// Observes the client's packets.
    package let watch: ConnectionWatch
    private let store: SQLiteMessageStore?
    private let inspector: MQTTChuckServer?
    private let disconnectOptions: DisconnectOptions
    private let console: Console
    private let events: AnyCancellable

    /// Creates the client. The client does not connect yet.
    ///
    /// - Parameters:
    ///   - arguments: The checked connection options of the command line.
    ///   - console: Prints debug lines and the address of the inspector's page.
    ///   - told: The callbacks.
    ///   - adjust: Changes the configuration before the client is made.
    /// - Throws: ``ArgumentError`` for an unsupported request, and ``CourierError`` for a store that cannot be opened.
    package init(
        _ arguments: ConnectionArguments, _ console: Console, told: ClientCallbacks,
        adjust: (inout MQTTClientConfig) -> Void = { _ in }
    ) throws {
        let queue = DispatchQueue(label: "courier.command")
        var config = arguments.configuration()
        let print: @Sendable (String) -> Void = { line in
            queue.async {
                console.write(line + "\n")
                console.flush()
                if console.isOutputClosed { told.outputClosed() }
            }
        }
        watch = ConnectionWatch(
            print: arguments.isDebugging ? print : nil,
            showsGrants: arguments.role == .subscriber && !arguments.isQuiet
        ) { refused in
            queue.async { told.refusedPublish(refused) }
        }
        var observers: [any PacketObserver] = [watch]
        let logger = arguments.isInspected ? MQTTChuckLogger() : nil
        if let logger { observers.append(logger) }
        config.packetObserver = observers.count == 1 ? watch : PacketObservers(observers)
        store = try arguments.storePath.map { try SQLiteMessageStore(at: URL(fileURLWithPath: $0)) }
        if let recovery = store?.recovery { console.tell("Warning: \(recovery.error.message)") }
        config.messageStore = store
        config.deliveryQueue = queue
        adjust(&config)
        try CourierClientFactory().validate(config)
        let client = CourierClientFactory().makeMQTTClient(config: config)
        inspector = try logger?.serve(clientMetrics: { ["courier": client.metrics] })
        if let inspector { console.writeToErrors("Inspector: \(inspector.url.absoluteString)\n") }
        self.client = client
        self.queue = queue
        self.console = console
        disconnectOptions = arguments.disconnectOptions
        events = client.eventPublisher.sink { told.event($0.type) }
    }

    /// Sends DISCONNECT, ends the connection and closes the store.
    ///
    /// - Parameter done: Called once, on the queue. Success means that everything was written, including DISCONNECT.
    package func close(_ done: @escaping @Sendable (Result<Void, CourierError>) -> Void) {
        let ended: @Sendable (Result<Void, CourierError>) -> Void = { [queue, store] result in
            guard let store else { return done(result) }
            Task {
                await store.close()
                queue.async { done(result) }
            }
        }
        do {
            try client.disconnect(disconnectOptions, completion: ended)
        } catch {
            // This connection does not allow the DISCONNECT that the command line requests, so a DISCONNECT without
            // options is sent.
            console.tell("Warning: \((error as? CourierError)?.message ?? "\(error)")")
            client.disconnect(completion: ended)
        }
    }
}

/// Passes each packet batch to several observers, one after the other.
private struct PacketObservers: PacketObserver {
    private let observers: [any PacketObserver]

    init(_ observers: [any PacketObserver]) { self.observers = observers }

    func observed(_ batch: PacketBatch) {
        for observer in observers { observer.observed(batch) }
    }
}
