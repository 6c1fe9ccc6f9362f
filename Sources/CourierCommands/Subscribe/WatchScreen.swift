/// Where on the terminal `-w` writes: each topic on a line of its own, in the order in which they came.
struct WatchScreen {
    /// How many topics have lines of their own; the others share the last one.
    static let topicLimit = 10_000

    private var lines: [String: Int] = [:]
    /// The line below the broker's name is the first.
    private var nextLine = 2

    /// Clears the screen and names the broker.
    func start(host: String) -> String { "\u{1B}[2J\u{1B}[1;1HBroker: \(host)\n" }

    /// Goes to the line of a topic.
    mutating func move(to topic: String) -> String {
        if let line = lines[topic] { return "\u{1B}[\(line);1H" }
        let line = nextLine
        if lines.count < Self.topicLimit {
            lines[topic] = line
            nextLine += 1
        }
        return "\u{1B}[\(line);1H"
    }

    /// Goes below the last line.
    func leave() -> String { "\u{1B}[\(nextLine - 1);1H\n" }
}
