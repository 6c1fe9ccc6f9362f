import Foundation
import MQTTCodec

/// The clients, topic names and deadline of one probe, which tests one feature or limit of a broker. It removes the
/// sessions and retained messages of the probe from the broker.
///
/// Only the thread that runs the probes uses a context.
final class ProbeContext {
    let plan: TestPlan
    let events: LinkEvents
    /// The number of this context in topics and client ids.
    private let number: Int
    private(set) var deadline: ContinuousClock.Instant
    private var clients: [ProbeClient] = []
    private var clientCount = 0
    private var retainedTopics: Set<String> = []
    private var sessions: Set<String> = []

    init(_ plan: TestPlan, _ events: LinkEvents, number: Int) {
        self.plan = plan
        self.events = events
        self.number = number
        deadline = events.now + .seconds(plan.timeLimit)
    }

    var version: ProtocolVersion { plan.version }
    var announced: AnnouncedLimits? { plan.announced }

    /// Starts the time limit again, for the second part of a probe.
    func restartTimeLimit() { deadline = events.now + .seconds(plan.timeLimit) }

    /// Runs a step with its own time limit, but within the probe's time limit. The default limit is a quarter of the
    /// probe's time limit, but at least one second.
    func step<Result>(atMost limit: Duration? = nil, _ body: () throws(LinkFailure) -> Result) throws(LinkFailure)
        -> Result
    {
        let whole = deadline
        defer { deadline = whole }
        deadline = min(whole, events.now + (limit ?? max(.seconds(1), .seconds(plan.timeLimit) / 4)))
        return try body()
    }

    // MARK: Names

    /// The first levels of all topics of this context.
    var root: String { "courier-test-\(plan.randomPart)/\(number)" }

    /// Returns true if the topic belongs to this run of the tests.
    func owns(_ topic: String) -> Bool {
        topic.hasPrefix("courier-test-\(plan.randomPart)/") || topic.hasPrefix("$courier/")
    }

    func topic(_ name: String) -> String { "\(root)/\(name)" }

    /// Returns a client id of at most 23 bytes that no other client of this run has.
    func newClientID() -> String {
        clientCount += 1
        return "courier-\(plan.randomPart)-\(number)-\(clientCount)"
    }

    /// The number of a rule in the specification of the tested MQTT version, such as `[MQTT-3.3.1-6]`.
    func name(_ clause: Clause) -> String? { clause.name(in: version) }

    // MARK: Clients

    /// Connects a client whose session ends with its connection. The client id is new by default. `change` can change
    /// the CONNECT packet.
    func connect(_ id: String? = nil, _ change: (inout Connect) -> Void = { _ in }) throws(LinkFailure) -> ProbeClient {
        var connect = plan.address.connect(version, clientID: id ?? newClientID(), keepAlive: TestPlan.keepAlive)
        change(&connect)
        let client = try ProbeClient(connect, self)
        clients.append(client)
        return client
    }

    /// Connects a client whose session outlives its connection, and continues the session if it exists.
    func resume(_ id: String, expiry: UInt32 = TestPlan.sessionExpiry) throws(LinkFailure) -> ProbeClient {
        sessions.insert(id)
        return try connect(id) {
            $0.isCleanStart = false
            if version >= .v5 { $0.properties.append(.sessionExpiryInterval(expiry)) }
        }
    }

    /// Ends a connection with DISCONNECT, and waits until the broker has closed it too.
    func leave(_ client: ProbeClient, keepsSession: Bool = false) throws(LinkFailure) {
        clients.removeAll { $0 === client }
        client.link.disconnect(keepsSession: keepsSession)
        try client.link.waitUntilClosed(until: deadline)
    }

    /// Cuts a connection without DISCONNECT.
    func cut(_ client: ProbeClient) {
        clients.removeAll { $0 === client }
        client.link.cut()
    }

    /// Publishes a retained message, which ``cleanUp()`` removes.
    func retain(_ payload: String, at topic: String, by client: ProbeClient) throws(LinkFailure) {
        retainedTopics.insert(topic)
        try client.publish(payload, to: topic, plan.reliableQoS, isRetained: true)
    }

    /// Receives packets until a condition is true. The other clients of the context also receive and acknowledge, so that
    /// the broker does not have to store their messages.
    ///
    /// - Throws: The failure of one of `clients`. Failures of other clients are ignored.
    func receive(by clients: [ProbeClient], until isDone: () -> Bool) throws(LinkFailure) {
        let others = self.clients.filter { other in !clients.contains { $0 === other } }
        while !isDone() {
            // This check ends the probe at its deadline, even if the broker never stops sending.
            guard events.now < deadline else { throw .silent }
            let (client, packet) = try events.wait(until: deadline) {
                () throws(LinkFailure) -> (ProbeClient, Packet)? in
                for client in clients {
                    if let arrival = try client.link.poll() { return (client, arrival.packet) }
                }
                for client in others {
                    if let arrival = try? client.link.poll() { return (client, arrival.packet) }
                }
                return nil
            }
            do throws(LinkFailure) {
                try client.handle(packet)
            } catch {
                if clients.contains(where: { $0 === client }) { throw error }
            }
        }
    }

    // MARK: Cleaning up

    /// Ends all connections and sessions, and removes all retained messages.
    ///
    /// - Returns: The text of a warning if a session or a retained message may remain on the broker; otherwise `nil`.
    func cleanUp() -> String? {
        for client in clients { client.link.disconnect() }
        for client in clients { try? client.link.waitUntilClosed(until: events.now + .seconds(1)) }
        clients = []
        if retainedTopics.isEmpty, sessions.isEmpty { return nil }
        let context = ProbeContext(plan, events, number: number)
        context.clientCount = clientCount
        var rest: [String] = []
        for id in sessions.sorted() {
            context.restartTimeLimit()
            do throws(LinkFailure) {
                try context.leave(try context.connect(id))
            } catch {
                rest.append("the session of client id \(id)")
            }
        }
        for topic in retainedTopics.sorted() {
            context.restartTimeLimit()
            do throws(LinkFailure) {
                let client = if let open = context.clients.first { open } else { try context.connect() }
                try client.publish("", to: topic, plan.reliableQoS, isRetained: true)
            } catch {
                rest.append("the retained message of \(topic)")
                for client in context.clients { context.cut(client) }
            }
        }
        for client in context.clients { try? context.leave(client) }
        return rest.isEmpty ? nil : "\(rest.joined(separator: ", ")) may remain on the broker"
    }
}
