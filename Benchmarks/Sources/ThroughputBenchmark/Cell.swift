/// One row of the table: a direction and a quality of service.
struct Cell: Sendable {
    enum Direction: String, Sendable {
        case publish, receive
    }

    let direction: Direction
    let qos: Int
    /// The required ratio of the messages per second.
    let budget: Double

    /// The rows for the packet inspector. The budget is the required ratio of the speed with the inspector to the speed
    /// without it.
    static let inspected: [(cell: Cell, form: PublicClient.Form)] = [
        (Cell(direction: .publish, qos: 0, budget: 0.85), .bytes),
        (Cell(direction: .publish, qos: 1, budget: 0.85), .bytes),
        (Cell(direction: .publish, qos: 2, budget: 0.85), .bytes),
        (Cell(direction: .receive, qos: 0, budget: 0.85), .loop),
        (Cell(direction: .receive, qos: 1, budget: 0.85), .loop),
        (Cell(direction: .receive, qos: 2, budget: 0.85), .loop),
    ]

    var name: String { "\(direction.rawValue) QoS \(qos)" }
}
