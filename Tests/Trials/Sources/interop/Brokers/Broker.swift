/// A broker that conversations are held with: one group of columns of the matrix.
protocol Broker: Sendable {
    /// What it is called in the matrix.
    var name: String { get }
    /// The Debian package that is missing; `nil` if all is there.
    var missingPackage: String? { get }
    /// What it can not do by any way, each with the reason.
    var lacks: [Ability: String] { get }
    /// Whom it lets in.
    var account: Account { get }

    /// Starts it, for the first time or again, always at the same places; returns the ways to it when it takes
    /// connections.
    @discardableResult
    func start() async throws -> [Way]
    /// Stops it; its connections end.
    func stop() async
    /// Stops it for good and removes what it kept.
    func remove() async
}

/// A user name and its password.
struct Account: Sendable {
    let user: String
    let password: String

    static let ada = Account(user: "ada", password: "lovelace")
}

/// What some conversations need and some brokers can not do.
enum Ability: Hashable, Sendable {
    /// Speaking MQTT 5.
    case version5
    /// Refusing MQTT 5, so that a client has to fall back.
    case olderVersionsOnly
    /// Delivering QoS 2.
    case qos2
    /// Taking QoS 2 as QoS 1.
    case downgrade
    /// Answering a wrong password with a CONNACK that says so.
    case explainsRefusal
    /// Publishing no will after DISCONNECT.
    case forgetsWill

    /// What a broker lacks that has all there is in MQTT 5, each with the reason.
    static let lackedByNewBrokers = [
        olderVersionsOnly: "the broker speaks MQTT 5, so there is nothing to fall back from",
        downgrade: "the broker has QoS 2, so there is nothing to downgrade",
    ]
}
