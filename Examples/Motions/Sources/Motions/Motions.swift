import CourierTesting
import Dispatch
import Foundation

/// The Motions app from a book on mobile messaging. A device publishes pitch, roll and yaw, and changes its color when
/// it receives an alert. README.md describes what to try.
@main @MainActor struct Motions {
    static func main() async {
        if CommandLine.arguments.contains("--help") { return print(Settings.usage) }
        do {
            let settings = try Settings(CommandLine.arguments.dropFirst())
            if let host = settings.host {
                try await run(settings, Broker(host: host, port: settings.port))
            } else {
                let broker = try LoopbackBroker.start()
                try await run(settings, Broker(host: "127.0.0.1", port: broker.port))
                await broker.shutdown()
            }
        } catch let mistake as Settings.Mistake {
            fail("\(mistake.sentence)\n\(Settings.usage)", status: 2)
        } catch {
            fail("\(error)", status: 1)
        }
    }

    /// Runs until the device or the viewer ends, or the program is interrupted.
    private static func run(_ settings: Settings, _ broker: Broker) async throws {
        let display = Display(heading: "Motions, by the broker on \(broker.host), port \(broker.port)")
        display.open()
        defer { display.close() }
        let interrupts = Interrupts()
        let stops = interrupts.stops
        defer { interrupts.cancel() }
        try await withThrowingTaskGroup { group in
            if settings.role != .viewer {
                let device = Device(
                    settings: settings, broker: broker, display: display, showsItself: settings.role == .device)
                group.addTask { try await device.run() }
            }
            if settings.role != .device {
                group.addTask { try await Viewer(broker: broker, display: display).run() }
            }
            group.addTask { for await _ in stops.prefix(1) {} }
            try await group.next()
            group.cancelAll()
        }
    }

    private static func fail(_ text: String, status: Int32) -> Never {
        try? FileHandle.standardError.write(contentsOf: Data("Motions: \(text)\n".utf8))
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
