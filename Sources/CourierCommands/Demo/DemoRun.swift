import CourierCore
import CourierMQTT
import CourierTesting
import Dispatch
import Foundation

/// One run of `courier demo`.
///
/// Safe to share: all mutable state is used only on the queue.
final class DemoRun: @unchecked Sendable {
    /// The number of seconds after which the demo gives up, because a normal run takes much less time.
    private static let timeLimit = 60
    private static let topic = "letters/bob"
    private static let words = [
        "Hello, Bob!", "The kettle is on.", "Bring biscuits.", "Are you there?",
        "I am offline, but I keep writing.", "My messages wait until I am online.",
        "Each message arrives exactly once.",
    ]

    private let console: Console
    private let broker: LoopbackBroker
    private let queue = DispatchQueue(label: "courier.demo")
    private let ending = Ending()
    private let begunAt = ContinuousClock.now
    private let clients: [DemoScript.Actor: any CourierClient]

    // MARK: State, used only on the queue

    private var script = DemoScript()
    private var watches: [AnyCancellable] = []
    private var cutAt = ContinuousClock.now

    init(_ console: Console) throws {
        self.console = console
        let broker = try LoopbackBroker.start()
        self.broker = broker
        var clients: [DemoScript.Actor: any CourierClient] = [:]
        for actor in DemoScript.Actor.allCases { clients[actor] = Self.client(actor, of: broker, on: queue) }
        self.clients = clients
    }

    private static func client(
        _ actor: DemoScript.Actor, of broker: LoopbackBroker, on queue: DispatchQueue
    ) -> any CourierClient {
        // The broker keeps the session, and so it stores messages for a client that is disconnected.
        var config = MQTTClientConfig(
            options: ConnectOptions(
                host: "127.0.0.1", port: broker.port, clientId: actor.rawValue, username: "", password: "",
                isCleanSession: false))
        config.messageAdapters = [TextMessageAdapter()]
        config.autoReconnectInterval = 1
        config.maxAutoReconnectInterval = 1
        config.reconnect.jitter = .none
        // The broker runs in this process, so the clients must connect even if the machine has no network.
        config.environment.networkMonitor = AlwaysAvailableNetwork()
        config.deliveryQueue = queue
        config.logHandler = nil  // Logs nothing, because the demo loses connections on purpose.
        return CourierClientFactory().makeMQTTClient(config: config)
    }

    /// Runs the demo to its end, and returns the exit code.
    func run() -> Int32 {
        queue.async { [self] in begin() }
        queue.asyncAfter(deadline: .now() + .seconds(Self.timeLimit)) { [weak self] in self?.giveUp() }
        return ending.wait()
    }

    private func begin() {
        console.write("Two clients and a broker run in this process. The network between them fails.\n\n")
        tell("broker", "listens on 127.0.0.1:\(broker.port)")
        for (actor, client) in clients {
            watches.append(client.eventPublisher.sink { [weak self] in self?.happened($0.type, to: actor) })
        }
        if let bob = clients[.bob] {
            watches.append(bob.messagePublisher().sink { [weak self] in self?.received($0) })
            bob.subscribe([(Self.topic, .two)])
        }
        for client in clients.values { client.connect() }
    }

    // MARK: Client events and messages

    private func happened(_ event: CourierEventType, to actor: DemoScript.Actor) {
        switch event {
        case .connectionSuccess:
            tell(actor.rawValue, "connected", colour: 32)
            perform(script.isConnected(actor))
        case .connectionLost:
            tell(actor.rawValue, "lost the connection, and tries again in one second", colour: 31)
            perform(script.lost(actor))
        case .subscribeSuccess: if actor == .bob { perform(script.subscribed()) }
        default: break
        }
    }

    private func received(_ message: Message) {
        let text = String(decoding: message.payload, as: UTF8.self)
        guard let place = Self.words.firstIndex(of: text) else { return }
        tell("bob", "<- \(text)", colour: 32)
        perform(script.received(place + 1))
    }

    private func perform(_ actions: [DemoScript.Action]) {
        for action in actions {
            switch action {
            case .send(let numbers): for number in numbers { send(number) }
            case .cutNetwork:
                tell("network", "every connection is cut", colour: 31)
                cutAt = .now
                broker.dropConnections()
            case .end: finish()
            }
        }
    }

    private func send(_ number: Int) {
        let text = Self.words[(number - 1) % Self.words.count]
        tell("ada", "-> \(text)\(number > DemoScript.countBefore ? "  (waits)" : "")")
        do {
            try clients[.ada]?.publish(text: text, to: Self.topic, qos: .two) { [self] result in
                guard case .success = result else { return }
                queue.async { self.acknowledged() }
            }
        } catch {
            tell("ada", "cannot send: \(error)", colour: 31)
        }
    }

    private func acknowledged() { perform(script.acknowledged()) }

    // MARK: End of the demo

    private func finish() {
        let away = cutAt.duration(to: .now)
        let count = DemoScript.count
        if script.isAsPromised {
            let time = String(format: "%.1f", away / .seconds(1))
            console.write(
                "\n\(count) messages were sent, and \(count) messages arrived, each exactly once and in order. "
                    + "The last message arrived at most \(time) s after the connections were cut.\n"
                    + "Try next: courier broker, courier sub -t '#' -v, courier pub -t hello -m world.\n")
        } else {
            console.tell(
                "Error: \(count) messages were sent, but the messages with these numbers arrived: \(script.received)")
        }
        close(script.isAsPromised ? ExitCode.success : ExitCode.failure)
    }

    private func giveUp() {
        console.tell("Error: The demonstration did not end within \(Self.timeLimit) seconds.")
        close(ExitCode.failure)
    }

    private func close(_ code: Int32) {
        console.flush()
        let group = DispatchGroup()
        for client in clients.values {
            group.enter()
            client.disconnect { _ in group.leave() }
        }
        group.notify(queue: queue) { [broker, ending] in
            Task {
                await broker.shutdown()
                ending.end(code)
            }
        }
    }

    private func tell(_ who: String, _ what: String, colour: Int? = nil) {
        let time = String(format: "%6.2f s", begunAt.duration(to: .now) / .seconds(1))
        let shown = colour.flatMap { console.hasColours ? "\u{1B}[\($0)m\(what)\u{1B}[0m" : nil } ?? what
        console.write("\(time)  \(who.padding(toLength: 8, withPad: " ", startingAt: 0))\(shown)\n")
        console.flush()
    }
}
