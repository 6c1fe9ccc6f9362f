import TrialSupport

/// What a worker is told when it is started, and how it behaves in this life: chance, but the same for the same seed.
struct WorkerOrders: Sendable {
    let folder: String
    let store: StoreKind
    /// The port of each client's broker.
    let ports: [UInt16]
    let life: Int
    let seed: UInt64
    /// Whether it only works off what is left.
    let isLast: Bool

    /// The program's arguments that say the same.
    var words: [String] {
        [
            "--worker", folder, "--store", store.rawValue, "--ports", ports.map { "\($0)" }.joined(separator: ","),
            "--life", "\(life)", "--seed", "\(seed)",
        ] + (isLast ? ["--last"] : [])
    }

    init(folder: String, store: StoreKind, ports: [UInt16], life: Int, seed: UInt64, isLast: Bool) {
        self.folder = folder
        self.store = store
        self.ports = ports
        self.life = life
        self.seed = seed
        self.isLast = isLast
    }

    /// The orders of the command line; `nil` when it is not that of a worker.
    init?() {
        guard let folder = Options.text("--worker"), let store = Options.text("--store").flatMap(StoreKind.init),
            let ports = Options.text("--ports")?.split(separator: ",").compactMap({ UInt16($0) }),
            ports.count == Lane.clientCount, let life = Options.number("--life"), let seed = Options.number("--seed")
        else { return nil }
        self.init(
            folder: folder, store: store, ports: ports, life: Int(life), seed: seed, isLast: Options.has("--last"))
    }

    /// Chance for one purpose of this life.
    func chance(_ purpose: Int) -> SeededGenerator {
        var random = SeededGenerator(seed: seed &+ UInt64(life) << 8 &+ UInt64(purpose))
        _ = random.next()
        return random
    }
}
