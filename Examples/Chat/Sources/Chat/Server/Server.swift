import CourierTesting
import CourierTransport
import Foundation
import MQTTCodec
import Synchronization

/// The servers that a room needs, on free ports of 127.0.0.1: a token service over HTTP, and a broker that accepts its
/// tokens.
final class Server: Sendable {
    let brokerPort: UInt16
    let tokenURL: String
    private let office: TokenOffice
    private let broker: LoopbackBroker
    private let door: Door
    private let loop: EventLoop

    /// Starts both servers. `tell` receives descriptions of events, on any thread.
    init(_ office: TokenOffice, tell: @escaping @Sendable (String) -> Void) throws {
        let loop = try EventLoop(name: "server")
        let door = Door(office, loop, tell)
        var rules = BrokerConfiguration()
        rules.authentication = .check { door.refusal($0) }
        let broker = try LoopbackBroker.start(configuration: rules)
        door.open(broker)
        let listener = try ChannelListener.listen(loop: loop) {
            TokenDesk($0, office, brokerPort: broker.port, tell: tell)
        }
        (self.office, self.broker, self.door, self.loop) = (office, broker, door, loop)
        brokerPort = broker.port
        tokenURL = "http://127.0.0.1:\(listener.port)/token"
    }

    /// Revokes the tokens of `name`, and disconnects its client.
    func revoke(_ name: String) {
        office.revoke(name)
        door.disconnect(name)
    }

    func stop() async {
        await loop.shutdown()
        await broker.shutdown()
    }
}

/// Accepts clients with a valid token, and disconnects clients whose token has expired.
private final class Door: Sendable {
    private struct Guest {
        let clientID: String
        let end: ContinuousClock.Instant
    }

    private struct State {
        weak var broker: LoopbackBroker?
        /// The connected clients, by name.
        var guests: [String: Guest] = [:]
    }

    private let office: TokenOffice
    private let loop: EventLoop
    private let tell: @Sendable (String) -> Void
    private let state = Mutex(State())

    init(_ office: TokenOffice, _ loop: EventLoop, _ tell: @escaping @Sendable (String) -> Void) {
        self.office = office
        self.loop = loop
        self.tell = tell
    }

    func open(_ broker: LoopbackBroker) { state.withLock { $0.broker = broker } }

    func refusal(_ connect: Connect) -> PacketReasonCode? {
        let (id, name) = (connect.clientID, connect.username ?? "")
        let token = String(decoding: connect.password?.bytes ?? [], as: UTF8.self)
        guard let end = office.end(of: token, for: name) else {
            tell("refuses the client \(id.debugDescription), because its token is not valid")
            return .notAuthorized
        }
        tell("accepts \(name)")
        state.withLock { $0.guests[name] = Guest(clientID: id, end: end) }
        loop.execute { [self] in
            // A client that has connected again with a newer token stays connected.
            loop.schedule(at: end) { [self] in disconnect(name) { $0.end <= .now } }
        }
        return nil
    }

    func disconnect(_ name: String) { disconnect(name) { _ in true } }

    private func disconnect(_ name: String, _ condition: (Guest) -> Bool) {
        let (guest, broker) = state.withLock { state -> (Guest?, LoopbackBroker?) in
            guard let guest = state.guests[name], condition(guest) else { return (nil, nil) }
            state.guests[name] = nil
            return (guest, state.broker)
        }
        guard let guest else { return }
        tell("disconnects \(name), because the token is not valid any more")
        broker?.disconnect(guest.clientID, reasonCode: .notAuthorized)
    }
}
