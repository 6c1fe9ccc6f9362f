/// A column in the table of the public API: plain, with an event handler, or with user properties.
enum PublicColumn: String, CaseIterable, Sendable {
    case plain, handler, properties

    /// The title of the column.
    var title: String {
        switch self {
        case .plain: "MQTT 3.1.1"
        case .handler: "with an event handler"
        case .properties: "with 2 user properties (MQTT 5)"
        }
    }

    func contender(_ form: PublicClient.Form) -> Contender {
        switch self {
        case .plain: .client(form)
        case .handler: .handled(form)
        case .properties: .propertied(form)
        }
    }

    /// The libmosquitto contender that does the same work.
    var peer: Contender { self == .properties ? .mosquittoWithProperties : .mosquitto }
}

/// One row in the table of the public API.
struct PublicRow: Sendable {
    let direction: Cell.Direction
    let qos: Int
    let form: PublicClient.Form
    /// The required ratio to libmosquitto's messages per second for each column. A column without a budget is not
    /// measured.
    let budgets: [PublicColumn: Double]

    var cell: Cell { Cell(direction: direction, qos: qos, budget: budgets[.plain] ?? 0) }

    static let all = [
        PublicRow(.publish, 0, .bytes, [.plain: 20, .handler: 5, .properties: 10]),
        PublicRow(.publish, 0, .data, [.plain: 8]),
        PublicRow(.publish, 1, .bytes, [.plain: 50, .handler: 15, .properties: 25]),
        PublicRow(.publish, 1, .await, [.plain: 15, .handler: 8, .properties: 10]),
        PublicRow(.publish, 2, .bytes, [.plain: 50, .handler: 15, .properties: 25]),
        PublicRow(.publish, 2, .await, [.plain: 15]),
        PublicRow(.receive, 0, .loop, [.plain: 12, .handler: 6, .properties: 6]),
        PublicRow(.receive, 0, .sink, [.plain: 6]),
        PublicRow(.receive, 1, .loop, [.plain: 45, .handler: 20, .properties: 20]),
        PublicRow(.receive, 2, .loop, [.plain: 45, .handler: 20, .properties: 20]),
    ]

    private init(
        _ direction: Cell.Direction, _ qos: Int, _ form: PublicClient.Form, _ budgets: [PublicColumn: Double]
    ) {
        self.direction = direction
        self.qos = qos
        self.form = form
        self.budgets = budgets
    }

    /// Measures the `columns` that have a budget, and libmosquitto. All contenders take turns.
    func compare(_ columns: [PublicColumn], rounds: Int) -> Comparison? {
        let columns = columns.filter { budgets[$0] != nil }
        guard !columns.isEmpty else { return nil }
        let peers = [Contender.mosquitto, .mosquittoWithProperties].filter { peer in
            columns.contains { $0.peer == peer }
        }
        return Comparison(cell, among: columns.map { $0.contender(form) } + peers, rounds: rounds)
    }
}
