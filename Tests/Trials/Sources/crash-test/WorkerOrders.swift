import TrialSupport

/// The parameters of a worker. Its random behavior follows from the seed and the life, so a run can be repeated.
struct WorkerOrders: Sendable {
    /// The part of the test that the worker performs.
    enum Part: String, Sendable {
        /// Sends and receives messages with two clients.
        case delivery
        /// Handles messages with the processors of one client.
        case processing

        var clientCount: Int {
            switch self {
            case .delivery: Lane.clientCount
            case .processing: 1
            }
        }
    }

    let part: Part
    let folder: String
    let store: StoreKind
    /// The broker port for each client.
    let ports: [UInt16]
    let life: Int
    let seed: UInt64
    /// True if the worker only handles the remaining messages and writes none.
    let isLast: Bool

    /// The parameters as command-line arguments.
    var words: [String] {
        [
            "--worker", folder, "--part", part.rawValue, "--store", store.rawValue, "--ports",
            ports.map { "\($0)" }.joined(separator: ","),
            "--life", "\(life)", "--seed", "\(seed)",
        ] + (isLast ? ["--last"] : [])
    }

    init(part: Part, folder: String, store: StoreKind, ports: [UInt16], life: Int, seed: UInt64, isLast: Bool) {
        self.part = part
        self.folder = folder
        self.store = store
        self.ports = ports
        self.life = life
        self.seed = seed
        self.isLast = isLast
    }

    /// Reads the parameters from the command line; `nil` if this process is not a worker.
    init?() {
        guard let folder = Options.text("--worker"), let part = Options.text("--part").flatMap(Part.init),
            let store = Options.text("--store").flatMap(StoreKind.init),
            let ports = Options.text("--ports")?.split(separator: ",").compactMap({ UInt16($0) }),
            ports.count == part.clientCount, let life = Options.number("--life"), let seed = Options.number("--seed")
        else { return nil }
        self.init(
            part: part, folder: folder, store: store, ports: ports, life: Int(life), seed: seed,
            isLast: Options.has("--last"))
    }

    /// Returns a random generator for one purpose in this life.
    func chance(_ purpose: Int) -> SeededGenerator {
        var random = SeededGenerator(seed: seed &+ UInt64(life) << 8 &+ UInt64(purpose))
        _ = random.next()
        return random
    }
}
