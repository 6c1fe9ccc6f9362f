package import CourierTransport
import Synchronization

/// A proxy between one client and the broker. It cuts each connection after a random number of bytes.
///
/// Safe to share: all state that is not constant or behind a lock is used on the loop only.
package final class CuttingProxy: @unchecked Sendable {
    package struct Counts: Sendable {
        package var cuts = 0
        package var connections = 0
    }

    /// The age below which a lost connection is suspicious to an MQTT 3.1.1 client with pauses of at most 2 s. After
    /// CONNACK, such a client treats an early loss as a sign of another client with its id. After several early losses,
    /// it correctly waits for a minute. This time is a little longer than the client's own limit.
    private static let suspectAge = Duration.milliseconds(7_500)

    /// After this many young connections in a row, the next connection lives longer, with every MQTT version. The
    /// delivery checks assume that no client is away for twenty seconds.
    private static let youngLimit = 5
    private static let youngAge = Duration.seconds(1)

    package let releases = Releases()
    package let history = LinkHistory()
    private let loop: EventLoop
    private let broker: TransportEndpoint
    private let sparesYoungConnections: Bool
    private let counts = Mutex(Counts())
    /// The number of accepted connections in a row that ended before `suspectAge`.
    private let quickDrops = Atomic(0)
    /// The number of connections in a row that ended young, accepted or not. Used on the loop only.
    private var youngCount = 0
    private let isCutting = Atomic(true)
    private var random: SeededGenerator
    private var listener: ChannelListener?

    /// Creates a proxy. `isVersion311` is true if the client uses MQTT 3.1.1.
    package init(to broker: TransportEndpoint, isVersion311: Bool, seed: UInt64, on loop: EventLoop) throws {
        self.broker = broker
        self.loop = loop
        sparesYoungConnections = isVersion311
        random = SeededGenerator(seed: seed)
        listener = try ChannelListener.listen(loop: loop) { [self] channel in
            let link = ProxiedLink(self, client: channel)
            link.connect(to: broker, on: loop)
            return LinkSide(link, isClient: true)
        }
    }

    package var port: UInt16 { listener?.port ?? 0 }
    package var totals: Counts { counts.withLock { $0 } }

    /// True if one more early loss would make the client suspect another client with the same id.
    package var isSuspicious: Bool { sparesYoungConnections && quickDrops.load(ordering: .relaxed) >= 2 }

    /// Stops cutting connections.
    package func calm() { isCutting.store(false, ordering: .relaxed) }

    package func close() { listener?.close() }

    // MARK: Called by the links, on the loop

    /// Chooses where a new connection will be cut.
    func plan() -> ProxiedLink.Cut {
        counts.withLock { $0.connections += 1 }
        // Some connections are cut within the first packets, the others somewhere later.
        let limit = random.chance(30) ? 1 << (2 + random.below(11)) : 300_000
        return ProxiedLink.Cut(
            isTowardsClient: random.chance(60), afterBytes: random.below(limit), closesClient: random.chance(50),
            closesBroker: random.chance(50))
    }

    /// Returns true if a connection of this age may be cut now.
    func mayCut(age: Duration?) -> Bool {
        guard isCutting.load(ordering: .relaxed) else { return false }
        if youngCount >= Self.youngLimit, age ?? .zero <= Self.youngAge { return false }
        guard sparesYoungConnections, let age, age <= Self.suspectAge else { return true }
        return quickDrops.load(ordering: .relaxed) == 0
    }

    func wasCut() { counts.withLock { $0.cuts += 1 } }

    /// Notes the end of a connection. `age` is the time since the broker's first bytes; `nil` if it sent none.
    func ended(age: Duration?) {
        if age != nil { releases.connectionEnded() }
        youngCount = age ?? .zero <= Self.youngAge ? youngCount + 1 : 0
        if let age, age <= Self.suspectAge {
            quickDrops.add(1, ordering: .relaxed)
        } else {
            quickDrops.store(0, ordering: .relaxed)
        }
    }
}
