import CourierMQTT
import CourierTesting
import CourierTransport
import Foundation

/// The vehicles of a city, live on a map. README.md describes what to try.
@main struct Transit {
    static func main() async {
        if CommandLine.arguments.contains("--help") { return print(Settings.usage) }
        // If the output is closed, the program must still disconnect from the broker. Without this, SIGPIPE would end
        // it.
        signal(SIGPIPE, SIG_IGN)
        do {
            var settings = try Settings(CommandLine.arguments.dropFirst())
            guard settings.role == nil else { return try await run(settings) }
            let broker = try LoopbackBroker.start()
            settings.useLoopback(broker.port)
            try await run(settings)
            await broker.shutdown()
        } catch let mistake as Settings.Mistake {
            fail("\(mistake.sentence)\n\(Settings.usage)", status: 2)
        } catch {
            fail("\(error)", status: 1)
        }
    }

    /// Runs until one part ends or fails, the time limit has passed, or the program is interrupted.
    private static func run(_ settings: Settings) async throws {
        let interrupts = Interrupts()
        let stops = interrupts.stops
        try await withThrowingTaskGroup { group in
            if settings.role != .watch { group.addTask { try await generate(settings) } }
            if settings.role != .generate { group.addTask { try await watch(settings) } }
            group.addTask { for await _ in stops.prefix(1) {} }
            if let duration = settings.duration { group.addTask { try await Task.sleep(for: duration) } }
            try await group.next()
            group.cancelAll()
        }
        interrupts.cancel()
    }

    // MARK: Generator and map

    private static func generate(_ settings: Settings) async throws {
        let client = try client(settings, id: "city_%%%%")
        let generator = Generator(City(), settings, client: client)
        try await withThrowingTaskGroup { group in
            group.addTask { try await generator.run() }
            if settings.role == .generate {
                group.addTask {
                    var before = 0
                    while true {
                        try await Task.sleep(for: .seconds(1))
                        let count = await generator.sentCount
                        Text.write("\(Text.grouped(count - before))/s sent\n")
                        before = count
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private static func watch(_ settings: Settings) async throws {
        let fleet = Fleet()
        let server = try settings.webPort.map { try PageServer(port: $0) }
        let loops = try EventLoopGroup(
            name: "feed", readBufferSize: settings.bufferSize, priority: settings.priority)
        let client = try client(settings, id: settings.clientID, loops: loops)
        client.connect()

        let result: Result<Void, any Error>
        do {
            result = .success(try await show(fleet, of: client, on: server, settings))
        } catch {
            result = .failure(error)
        }
        await client.disconnectAndWait()
        await server?.stop()
        await loops.shutdown()
        Text.write(await fleet.summary() + "\n")
        try result.get()
    }

    /// Reads the feed and draws until the task is cancelled.
    private static func show(
        _ fleet: Fleet, of client: any CourierClient, on server: PageServer?, _ settings: Settings
    ) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await fleet.follow(settings.topic, of: client) }
            group.addTask { await fleet.countUnreadable(of: client) }
            if isatty(STDOUT_FILENO) == 1, !settings.isPlain {
                let map = TerminalMap(fleet, place: server?.url ?? "")
                group.addTask { await map.run() }
            } else {
                if let server { Text.write("\(server.url)\n") }
                group.addTask { await tell(fleet) }
            }
            if let server { group.addTask { await show(fleet, on: server) } }
            try await group.waitForAll()
        }
    }

    /// Prints a status line every second. Used without a terminal or with `--plain`.
    private static func tell(_ fleet: Fleet) async {
        while (try? await Task.sleep(for: .seconds(1))) != nil {
            Text.write(Text.line(await fleet.picture()) + "\n")
        }
    }

    /// Sends four pictures per second to the page, while a browser shows it.
    private static func show(_ fleet: Fleet, on server: PageServer) async {
        while (try? await Task.sleep(for: .milliseconds(250))) != nil {
            if server.isWatched { server.show(PictureJSON.text(await fleet.picture())) }
        }
    }

    // MARK: Shared by both parts

    private static func client(
        _ settings: Settings, id: String, loops: EventLoopGroup? = nil
    ) throws -> any CourierClient {
        let options = ConnectOptions(
            host: settings.host, port: settings.port, keepAlive: settings.ping, clientId: id,
            username: settings.username,
            password: ProcessInfo.processInfo.environment["TRANSIT_PASSWORD", default: ""],
            isCleanSession: true, scheme: settings.usesTLS ? "tls" : nil)
        var config = MQTTClientConfig(options: options)
        config.messageAdapters = [SightingAdapter()]
        config.autoReconnectInterval = 1
        // The broker may run on this machine, so the client must connect even without a network.
        config.environment.networkMonitor = AlwaysAvailableNetwork()
        config.environment.eventLoops = loops
        try CourierClientFactory().validate(config)
        return CourierClientFactory().makeMQTTClient(config: config)
    }

    private static func fail(_ text: String, status: Int32) -> Never {
        try? FileHandle.standardError.write(contentsOf: Data("Transit: \(text)\n".utf8))
        exit(status)
    }
}

/// Ctrl-C and SIGTERM as an asynchronous sequence.
struct Interrupts {
    let stops: AsyncStream<Void>
    private let sources: [any DispatchSourceSignal]

    init() {
        let (stops, stop) = AsyncStream.makeStream(of: Void.self)
        self.stops = stops
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { @Sendable in stop.yield() }
            source.resume()
            return source
        }
    }

    func cancel() { for source in sources { source.cancel() } }
}
