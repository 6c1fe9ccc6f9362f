/// One row of the table: a direction and a quality of service.
struct Cell: Sendable {
    enum Direction: String, Sendable {
        case publish, receive
    }

    let direction: Direction
    let qos: Int
    /// How many times as many messages a second as libmosquitto's the engine and the transport have to reach.
    let budget: Double

    /// The rows of the inspector; the budget is what is left of the speed without it.
    static let inspected: [(cell: Cell, form: PublicClient.Form)] = [
        (Cell(direction: .publish, qos: 0, budget: 0.85), .bytes),
        (Cell(direction: .publish, qos: 1, budget: 0.85), .bytes),
        (Cell(direction: .publish, qos: 2, budget: 0.85), .bytes),
        (Cell(direction: .receive, qos: 0, budget: 0.85), .loop),
        (Cell(direction: .receive, qos: 1, budget: 0.85), .loop),
        (Cell(direction: .receive, qos: 2, budget: 0.85), .loop),
    ]

    var name: String { "\(direction.rawValue) QoS \(qos)" }

    /// All rows, with the budgets for "engine + transport".
    static let all = [
        Cell(direction: .publish, qos: 0, budget: 25), Cell(direction: .publish, qos: 1, budget: 50),
        Cell(direction: .publish, qos: 2, budget: 50), Cell(direction: .receive, qos: 0, budget: 30),
        Cell(direction: .receive, qos: 1, budget: 60), Cell(direction: .receive, qos: 2, budget: 50),
    ]

    /// The rows of the public API, with the form of it and its budget.
    static let publicAPI: [(cell: Cell, form: PublicClient.Form)] = [
        (Cell(direction: .publish, qos: 0, budget: 15), .bytes), (Cell(direction: .publish, qos: 0, budget: 8), .data),
        (Cell(direction: .publish, qos: 1, budget: 40), .bytes),
        (Cell(direction: .publish, qos: 1, budget: 15), .await),
        (Cell(direction: .publish, qos: 2, budget: 40), .bytes),
        (Cell(direction: .publish, qos: 2, budget: 15), .await),
        (Cell(direction: .receive, qos: 0, budget: 10), .loop), (Cell(direction: .receive, qos: 0, budget: 6), .sink),
        (Cell(direction: .receive, qos: 1, budget: 25), .loop), (Cell(direction: .receive, qos: 2, budget: 25), .loop),
    ]
}
