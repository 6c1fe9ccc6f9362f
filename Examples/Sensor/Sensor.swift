import Board
import MQTTCodec
import MQTTEngine

/// A sensor on a microcontroller: publishes readings over a serial line, and obeys the commands that it receives.
///
/// The engine contains no input or output. So this type passes received bytes and the time to the engine, sends the
/// bytes that the engine writes, and performs the actions that the engine reports.
@main
struct Sensor: ~Copyable {
    /// The next request of the sensor to the engine.
    private enum Step { case wait, subscribe, publishReadings, publishState, disconnect }

    /// The size of the largest packet in either direction.
    private static let largestPacket = 256
    private static let subscribeToken = Token(rawValue: .max)
    private static let stateToken = Token(rawValue: .max - 1)

    private var engine: ClientEngine
    private var line = SerialLine(capacity: largestPacket)
    private var packets = PacketBuffer(capacity: largestPacket)
    private var actions = ActionList()
    private var step = Step.wait
    private var isClosed = false

    private var readings = Readings(count: 20)
    private var ledCommandCount = 0
    /// The number of memory blocks that were allocated before the messages that the sensor counts now.
    private var formerAllocationCount: UInt32 = 0
    private var newAllocationCount: UInt32 { heap_allocation_count() - formerAllocationCount }

    static func main() {
        var sensor = Sensor()
        sensor.run()
        print("heap peak: \(heap_peak())")
        print("stack peak: \(stack_peak())")
        print("end")
    }

    private init() {
        var configuration = EngineConfiguration(connect: Connect(version: .v5, clientID: "sensor-7", keepAlive: 6))
        configuration.maximumPacketSize = Self.largestPacket
        configuration.receiveMaximum = 4
        configuration.maximumInFlight = 4
        configuration.outgoingTopicAliases = 2
        configuration.incomingTopicAliases = 0
        engine = ClientEngine(configuration)
    }

    private var now: ClientEngine.Instant { .milliseconds(Int64(clock_milliseconds())) }

    private mutating func run() {
        engine.transportOpened(now: now, into: &packets, &actions)
        while !isClosed {
            perform()
            request()
            line.send(&packets)
            if line.receive() {
                readPackets()
            } else if let deadline = engine.deadline, now >= deadline {
                engine.timerFired(now: now, into: &packets, &actions)
            } else {
                sleep_until_interrupt()
            }
            if line_has_lost_bytes() { end("the line lost bytes") }
        }
        line.send(&packets)
        engine.transportClosed(now: now, &actions)
    }

    /// Passes the received bytes to the engine, until only a part of a packet remains.
    private mutating func readPackets() {
        while true {
            let consumed = line.pass(to: &engine, now: now, into: &packets, &actions)
            perform()
            line.removeFirst(consumed)
            if consumed == 0 { return }
        }
    }

    /// Makes the next request. While the engine reports actions, the sensor only notes the request.
    private mutating func request() {
        switch step {
        case .wait: return
        case .subscribe:
            let filter = Subscription("sensor/7/command", qos: .atLeastOnce)
            engine.subscribe([filter], token: Self.subscribeToken, now: now, into: &packets, &actions)
            step = .wait
        case .publishReadings:
            while engine.publishCapacity > 0, let message = readings.next() {
                engine.publish(message, now: now, into: &packets, &actions)
            }
        case .publishState:
            guard engine.publishCapacity > 0 else { return }
            let state = "\(readings.publishedCount) readings, \(ledCommandCount) commands for the LED"
            let message = OutgoingMessage(
                topic: "sensor/7/state", payload: Array(state.utf8), qos: .exactlyOnce, token: Self.stateToken)
            engine.publish(message, now: now, into: &packets, &actions)
            step = .wait
        case .disconnect:
            engine.disconnect(now: now, into: &packets, &actions)
            step = .wait
        }
    }

    /// Performs the actions that the engine reported. A message is valid until ``line`` changes.
    private mutating func perform() {
        for entry in actions.entries {
            switch entry {
            case .progress(.acknowledged(let token, let code)): acknowledged(token, code)
            case .progress: break
            case .message(let index):
                let payload = actions.messages[index].view.payload
                let command = line.buffer.withUnsafeBytes { Command($0[payload]) }
                if let command { obey(command) } else { print("unknown command") }
            case .rare(let index): perform(actions.rare[index])
            }
        }
        actions.removeAll()
    }

    private mutating func perform(_ action: EngineAction) {
        switch action {
        case .connected:
            print("connected")
            step = .subscribe
        case .subscribed(_, let subAck):
            if let code = subAck.reasonCodes.first, code.isFailure { return end("the server refused the filter") }
            print("subscribed")
            step = .publishReadings
        case .acknowledged(let token, let code, _): acknowledged(token, code)
        case .failed: end("a message or the SUBSCRIBE failed")
        case .pongReceived: print("the server answered a ping")
        case .close(.requested): isClosed = true
        case .close(.refused): end("the server refused the connection")
        case .close(.connectTimeout), .close(.pingTimeout), .close(.acknowledgementTimeout):
            end("the server did not answer in time")
        case .close: end("the server ended the connection, or broke the protocol")
        default: break
        }
    }

    private mutating func acknowledged(_ token: Token, _ code: PacketReasonCode) {
        if code.isFailure { return end("the server refused a message") }
        if token == Self.stateToken {
            step = .disconnect
        } else if readings.acknowledged() {
            let count = newAllocationCount  // Read before the text is built, because a text allocates memory.
            print("\(readings.publishedCount) readings published, allocations: \(count)")
        }
    }

    private mutating func obey(_ command: Command) {
        switch command {
        case .read(let count):
            readings.add(count)
            formerAllocationCount = heap_allocation_count()
        case .led(let isOn):
            ledCommandCount += 1
            // The first commands allocate the lists of actions.
            if ledCommandCount == 20 { formerAllocationCount = heap_allocation_count() }
            led_set(isOn)
        case .stop:
            let count = newAllocationCount
            print("\(ledCommandCount) commands received, allocations: \(count)")
            step = .publishState
        }
    }

    private mutating func end(_ reason: String) {
        print("failed: \(reason)")
        isClosed = true
    }
}
