/// The kind of a vehicle, taken from the topic.
enum Mode: UInt8, CaseIterable, Sendable {
    case bus, tram, metro, train, ferry, other

    init(_ name: some StringProtocol) {
        self = Mode.allCases.first { $0.name == name } ?? .other
    }

    var name: String { "\(self)" }
}
