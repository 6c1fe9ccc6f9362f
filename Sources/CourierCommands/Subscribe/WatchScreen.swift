/// The terminal positions for `-w`. Each topic has its own line, in the order of first arrival.
struct WatchScreen {
    /// The maximum number of topics with their own lines. All further topics use the same last line.
    static let topicLimit = 10_000

    private var lines: [String: Int] = [:]
    /// Line 1 shows the broker's name.
    private var nextLine = 2

    /// Returns the sequence that clears the screen and prints the broker's name.
    func start(host: String) -> String { "\u{1B}[2J\u{1B}[1;1HBroker: \(host)\n" }

    /// Returns the sequence that moves the cursor to the line of a topic.
    mutating func move(to topic: String) -> String {
        if let line = lines[topic] { return "\u{1B}[\(line);1H" }
        let line = nextLine
        if lines.count < Self.topicLimit {
            lines[topic] = line
            nextLine += 1
        }
        return "\u{1B}[\(line);1H"
    }

    /// Returns the sequence that moves the cursor below the last line.
    func leave() -> String { "\u{1B}[\(nextLine - 1);1H\n" }
}
