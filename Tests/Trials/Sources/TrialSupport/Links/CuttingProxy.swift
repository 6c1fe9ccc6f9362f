package import CourierTransport
import Synchronization

/// Stands between one client and the broker, and cuts its connections after a random number of bytes.
///
/// Safe to share: what is not a constant or behind a lock is touched on the loop only.
package final class CuttingProxy: @unchecked Sendable {
    package struct Counts: Sendable {
        package var cuts = 0
        package var connections = 0
    }

    /// A little longer than the time after CONNACK in which a client of MQTT 3.1.1 with pauses of at most 2 s takes a
    /// drop for the sign of another client with its id. Several in a row would make it wait for a minute, as it should.
    private static let suspectAge = Duration.milliseconds(7_500)

    /// After so many connections in a row that ended this young the next one gets older, whatever the client speaks: the
    /// contract is judged on that no client is away for twenty seconds.
    private static let youngLimit = 5
    private static let youngAge = Duration.seconds(1)

    package let releases = Releases()
    package let history = LinkHistory()
    private let loop: EventLoop
    private let broker: TransportEndpoint
    private let sparesYoungConnections: Bool
    private let counts = Mutex(Counts())
    /// How many connections in a row broke soon after they had been accepted.
    private let quickDrops = Atomic(0)
    /// How many ended young, accepted or not. On the loop.
    private var youngCount = 0
    private let isCutting = Atomic(true)
    private var random: SeededGenerator
    private var listener: ChannelListener?

    /// A proxy of a client that speaks MQTT 3.1.1 or a later version.
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

    /// Whether one more drop in the next seconds would look like another client with the same id.
    package var isSuspicious: Bool { sparesYoungConnections && quickDrops.load(ordering: .relaxed) >= 2 }

    /// From now on nothing is cut.
    package func calm() { isCutting.store(false, ordering: .relaxed) }

    package func close() { listener?.close() }

    // MARK: The links' side, on the loop

    /// Where a new connection is to be cut.
    func plan() -> ProxiedLink.Cut {
        counts.withLock { $0.connections += 1 }
        // Some within the first packets, at all of their bytes; the rest somewhere in the traffic.
        let limit = random.chance(30) ? 1 << (2 + random.below(11)) : 300_000
        return ProxiedLink.Cut(
            isTowardsClient: random.chance(60), afterBytes: random.below(limit), closesClient: random.chance(50),
            closesBroker: random.chance(50))
    }

    /// Whether a connection of this age may be cut now.
    func mayCut(age: Duration?) -> Bool {
        guard isCutting.load(ordering: .relaxed) else { return false }
        if youngCount >= Self.youngLimit, age ?? .zero <= Self.youngAge { return false }
        guard sparesYoungConnections, let age, age <= Self.suspectAge else { return true }
        return quickDrops.load(ordering: .relaxed) == 0
    }

    func wasCut() { counts.withLock { $0.cuts += 1 } }

    /// A connection has ended; `age` since the broker's first bytes, if there were any.
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
