/// A broker to test with. It has one column of the matrix for each of its wires.
protocol Broker: Sendable {
    /// The broker's name in the matrix.
    var name: String { get }
    /// The Debian package that is missing; `nil` if all packages are installed.
    var missingPackage: String? { get }
    /// The abilities that the broker lacks over every wire, each with the reason.
    var lacks: [Ability: String] { get }
    /// The account that the broker accepts.
    var account: Account { get }

    /// Starts the broker, for the first time or again, always at the same addresses. Returns the ways to connect, once
    /// it accepts connections.
    @discardableResult
    func start() async throws -> [Way]
    /// Stops the broker; its connections end.
    func stop() async
    /// Stops the broker finally and removes its files.
    func remove() async
}

/// A user name and its password.
struct Account: Sendable {
    let user: String
    let password: String

    static let ada = Account(user: "ada", password: "lovelace")
}

/// An ability that some conversations need and some brokers lack.
enum Ability: Hashable, Sendable {
    /// Speaking MQTT 5.
    case version5
    /// Refusing MQTT 5, so that a client has to fall back.
    case olderVersionsOnly
    /// Supporting QoS 2.
    case qos2
    /// Accepting QoS 2 messages as QoS 1.
    case downgrade
    /// Refusing a wrong password with a CONNACK that names the reason.
    case explainsRefusal
    /// Publishing no will after DISCONNECT.
    case forgetsWill

    /// The abilities that a full MQTT 5 broker lacks, each with the reason.
    static let lackedByNewBrokers = [
        olderVersionsOnly: "the broker speaks MQTT 5, so there is nothing to fall back from",
        downgrade: "the broker has QoS 2, so there is nothing to downgrade",
    ]
}
