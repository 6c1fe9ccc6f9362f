/// The steps of the demonstration. Each method reports an event. It returns the actions of the next step, or no action
/// if the next step must still wait.
///
/// The states are `connecting → talking → cut → returning → over`, where `over` is final.
struct DemoScript: Equatable, Sendable {
    /// One of the two clients in the demonstration.
    enum Actor: String, CaseIterable, Sendable { case ada, bob }

    enum Action: Equatable, Sendable {
        /// Ada sends the messages with these numbers.
        case send(ClosedRange<Int>)
        /// Closes every connection.
        case cutNetwork
        /// Ends the demonstration, because every message has arrived.
        case end
    }

    private enum Phase: Equatable, Sendable { case connecting, talking, cut, returning, over }

    /// `countBefore` is the number of messages that are sent before the network is cut. `countDuring` is the number of
    /// messages that are sent during the cut, when no client is connected.
    static let countBefore = 3
    static let countDuring = 4
    static var count: Int { countBefore + countDuring }

    private var phase = Phase.connecting
    private var connected: Set<Actor> = []
    /// The clients that have reported a lost connection since the cut.
    private var lost: Set<Actor> = []
    private var hasSubscribed = false
    private var acknowledgedCount = 0
    /// The numbers of the messages that Bob received, in the order of arrival.
    private(set) var received: [Int] = []

    /// True if each message arrived exactly once and in the sequence of sending.
    var isAsPromised: Bool { received == Array(1...Self.count) }

    mutating func isConnected(_ actor: Actor) -> [Action] {
        connected.insert(actor)
        return next()
    }

    mutating func subscribed() -> [Action] {
        hasSubscribed = true
        return next()
    }

    mutating func lost(_ actor: Actor) -> [Action] {
        if phase == .cut { lost.insert(actor) }
        return next()
    }

    mutating func received(_ number: Int) -> [Action] {
        received.append(number)
        return next()
    }

    mutating func acknowledged() -> [Action] {
        acknowledgedCount += 1
        return next()
    }

    private mutating func next() -> [Action] {
        switch phase {
        case .connecting:
            guard connected.count == Actor.allCases.count, hasSubscribed else { return [] }
            phase = .talking
            return [.send(1...Self.countBefore)]
        case .talking:
            guard received.count >= Self.countBefore, acknowledgedCount >= Self.countBefore else { return [] }
            phase = .cut
            return [.cutNetwork]
        case .cut:
            guard lost.count == Actor.allCases.count else { return [] }
            phase = .returning
            return [.send(Self.countBefore + 1...Self.count)]
        case .returning:
            guard received.count >= Self.count, acknowledgedCount >= Self.count else { return [] }
            phase = .over
            return [.end]
        case .over: return []
        }
    }
}
