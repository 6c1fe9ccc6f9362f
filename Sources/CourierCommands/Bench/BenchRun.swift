import CommandArguments
import CourierCore
import CourierMQTT
import Dispatch
import Foundation
import Glibc

/// One run of `courier bench`. One client publishes, and another client receives the messages and measures their
/// latency.
///
/// Safe to share: mutable state is used only on the delivery queue of both clients, `queue`.
final class BenchRun: @unchecked Sendable {
    private enum Phase: Equatable { case connecting, running, closing }

    /// If no message arrives for this time, the messages that are still missing count as lost.
    private static let silenceLimit = Duration.seconds(10)
    /// The interval at which a run with a fixed rate sends the messages that are due.
    private static let pace = DispatchTimeInterval.milliseconds(2)

    /// The prefix of the client ids and of the default topic. It is random, because a process id is not unique across
    /// machines. With its suffix letter, a client id has at most 23 characters, which every broker accepts.
    /// [MQTT-3.1.3-5]
    let name: String
    let topic: String

    private let settings: BenchArguments
    private let console: Console
    private let queue = DispatchQueue(label: "courier.bench")
    private let ending = Ending()
    private let publisher: any CourierClient
    private let subscriber: any CourierClient
    private let watch = ConnectionWatch()

    // MARK: State, used only on the queue

    private var phase = Phase.connecting
    private var isPublisherConnected = false
    private var hasSubscribed = false
    private var sentCount = 0
    private var histogram = LatencyHistogram()
    private var timeline = RateTimeline()
    private var begunAt = ContinuousClock.now
    private var lastArrival = ContinuousClock.now
    private var shownCount = 0
    private var subscriptions: [AnyCancellable] = []
    private var timers: [any DispatchSourceTimer] = []
    /// The task that waits until the client accepts messages again; `nil` while the client accepts messages.
    private var roomWaiter: Task<Void, Never>?
    private var signals: SignalWatch?

    init(_ settings: BenchArguments, _ console: Console) throws {
        self.settings = settings
        self.console = console
        let name = "courier-bench-\(UUID().uuidString.prefix(8).lowercased())"
        self.name = name
        topic = settings.connection.topics.last ?? "\(name)/load"
        func client(_ id: String, _ queue: DispatchQueue, _ watch: ConnectionWatch) throws -> any CourierClient {
            var connection = settings.connection
            connection.clientID = id
            var config = connection.configuration()
            config.deliveryQueue = queue
            config.packetObserver = watch
            try CourierClientFactory().validate(config)
            return CourierClientFactory().makeMQTTClient(config: config)
        }
        publisher = try client("\(name)p", queue, watch)
        subscriber = try client("\(name)s", queue, watch)
    }

    /// Runs the benchmark to its end, and returns the exit code.
    func run() -> Int32 {
        queue.async { [self] in begin() }
        return ending.wait()
    }

    private func begin() {
        signals = SignalWatch([SIGINT, SIGTERM], on: queue) { [weak self] in self?.interrupted($0) }
        subscriptions = [
            publisher.eventPublisher.sink { [weak self] in self?.happened($0.type, isPublisher: true) },
            subscriber.eventPublisher.sink { [weak self] in self?.happened($0.type, isPublisher: false) },
            subscriber.messagePublisher().sink { [weak self] in self?.received($0) },
        ]
        subscriber.subscribe([(topic, settings.connection.level)])
        publisher.connect()
        subscriber.connect()
    }

    private func happened(_ event: CourierEventType, isPublisher: Bool) {
        switch event {
        case .connectionSuccess: if isPublisher { isPublisherConnected = true }
        case .subscribeSuccess: if !isPublisher { hasSubscribed = true }
        case .subscribeFailure(_, _, let error):
            // A lost connection is also reported by its own event. That event ends the run, so the error is ignored
            // here.
            if (error as? CourierError)?.code != .connectionLost { denied(error) }
            return
        case .connectionFailure(_, let error): return failed(error, isLost: false)
        case .connectionLost(_, let error, _, _): return failed(error, isLost: true)
        default: return
        }
        guard phase == .connecting, isPublisherConnected, hasSubscribed else { return }
        phase = .running
        begunAt = .now
        lastArrival = begunAt
        every(.seconds(1)) { $0.secondPassed() }
        if settings.rate != nil { every(Self.pace) { $0.send() } }
        send()
    }

    private func failed(_ error: (any Error)?, isLost: Bool) {
        guard phase != .closing else { return }
        let error = (error as? CourierError) ?? CourierError(.connectionFailed, "The connection failed.", cause: error)
        let problem =
            watch.takeRefusal().map { ConnectionProblem($0) }
            ?? (isLost ? ConnectionProblem(lost: error) : ConnectionProblem(unopened: error))
        problem.tell(on: console)
        close(problem.exitCode)
    }

    /// Ends the run after a failed subscription, because no message can arrive without a subscription.
    private func denied(_ error: (any Error)?) {
        guard phase != .closing else { return }
        console.tell("Error: \((error as? CourierError)?.message ?? "The subscription failed.")")
        close(ExitCode.failure)
    }

    private func interrupted(_ signal: Int32) {
        if phase == .running { finish(ExitCode.signal(signal)) } else { close(ExitCode.signal(signal)) }
    }

    private func every(_ interval: DispatchTimeInterval, _ body: @escaping @Sendable (BenchRun) -> Void) {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + interval, repeating: interval)
        timer.setEventHandler { [weak self] in if let self { body(self) } }
        timer.resume()
        timers.append(timer)
    }

    // MARK: Messages

    /// Sends the messages that are due, until the window is full.
    private func send() {
        guard phase == .running, roomWaiter == nil else { return }
        var due = settings.count
        if let rate = settings.rate {
            due = min(due, Int(begunAt.duration(to: .now) / .seconds(1) * Double(rate)) + 1)
        }
        while sentCount < due, sentCount - histogram.total < settings.window {
            var payload = withUnsafeBytes(of: Self.now.littleEndian) { Array($0) }
            payload += repeatElement(UInt8(ascii: "."), count: settings.size - payload.count)
            do {
                try publisher.publish(bytes: payload, to: topic, qos: settings.connection.level, retain: false)
            } catch let error as CourierError where error.code == .queueFull {
                return awaitRoom()
            } catch let error as CourierError where error.code == .connectionLost {
                return  // The event `connectionLost` follows, and ends the run.
            } catch {
                console.tell("Error: \((error as? CourierError)?.message ?? "\(error)")")
                return close(ExitCode.failure)
            }
            sentCount += 1
        }
    }

    /// Waits until the client accepts more messages, and then continues to send. The client may refuse messages before
    /// the window is full, because the window can be larger than the queue limit of the client.
    private func awaitRoom() {
        roomWaiter = Task { [self] in
            try? await publisher.readyToPublish()  // If the call throws, the run has ended.
            queue.async { [self] in
                roomWaiter = nil
                send()
            }
        }
    }

    private func received(_ message: Message) {
        guard phase == .running, message.payload.count == settings.size, !message.isRetained else { return }
        let sentAt = message.payload.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let now = Self.now
        // A message of this run begins with its send time. If the first bytes are not a time in the past, the message
        // is not from this run, so it is ignored.
        guard sentAt <= now else { return }
        histogram.add(now - sentAt)
        lastArrival = .now
        timeline.add(after: begunAt.duration(to: lastArrival))
        if histogram.total >= settings.count { return finish(ExitCode.success) }
        // The next messages are sent only when half of the window is free. Several messages then fit into one TCP
        // packet.
        if settings.rate == nil, sentCount - histogram.total <= settings.window / 2 { send() }
    }

    /// The monotonic time in nanoseconds. Both clients read the same clock.
    private static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    private func secondPassed() {
        guard phase == .running else { return }
        if lastArrival.duration(to: .now) > Self.silenceLimit {
            console.tell(
                "Error: No message has arrived for 10 seconds; \(sentCount - histogram.total) messages are lost.")
            return finish(ExitCode.failure, lastArrival: begunAt.duration(to: lastArrival))
        }
        // If all messages of the window are lost, no arrival calls `send`. So it is also called once per second here.
        send()
        guard phase == .running, console.isErrorTerminal else { return }
        let rate = histogram.total - shownCount
        shownCount = histogram.total
        console.draw(
            "\(histogram.total) of \(settings.count) messages, \(rate)/s, median latency "
                + "\(BenchReport.text(histogram.percentile(0.5)))")
    }

    // MARK: End of the run

    private func finish(_ code: Int32, lastArrival: Duration? = nil) {
        console.erase()
        let report = BenchReport(
            sentCount: sentCount, histogram: histogram, timeline: timeline, duration: begunAt.duration(to: .now),
            size: settings.size, lastArrival: lastArrival)
        console.write(report.lines.map { $0 + "\n" }.joined())
        guard let file = settings.report else { return close(code) }
        do throws(ArgumentError) {
            try file.write(BenchPicture(report, subtitle: subtitle).text)
            console.write("\nThe report is in \(file.path).\n")
            close(code)
        } catch {
            console.tell("Error: \(error.message)")
            close(ExitCode.failure)
        }
    }

    /// A description of the broker and the load.
    private var subtitle: String {
        let options = settings.connection.connectOptions
        let place = settings.connection.unixPath ?? "\(options.host):\(options.port)"
        let pace = settings.rate.map { "\(BenchReport.grouped($0)) messages/s requested" } ?? "sent as fast as possible"
        let load = "QoS \(settings.connection.qos), \(BenchReport.grouped(settings.size)) bytes each, \(pace)"
        return "\(place), \(load), at most \(BenchReport.grouped(settings.window)) messages on their way; "
            + Date.now.formatted(.iso8601.year().month().day())
    }

    private func close(_ code: Int32) {
        guard phase != .closing else { return ending.end(code) }
        phase = .closing
        for timer in timers { timer.cancel() }
        roomWaiter?.cancel()
        console.flush()
        let group = DispatchGroup()
        for client in [publisher, subscriber] {
            group.enter()
            client.disconnect { _ in group.leave() }
        }
        group.notify(queue: queue) { [ending] in ending.end(code) }
    }
}
