import Glibc

/// A line that the worker reports to the parent. It is written with one system call, so that a kill can not split it.
enum WorkerLine: Equatable, Sendable {
    /// The store was opened; the value is the time this took, in milliseconds.
    case opened(Int)
    /// All clients are connected and subscribed.
    case ready
    /// A message is stored: it must arrive.
    case accepted(Lane, MessageNumber)
    /// A message was not accepted.
    case refused(Lane, MessageNumber, String)
    /// A message was received and the worker starts to process it.
    case processing(Lane, MessageNumber, packetID: UInt16)
    /// The message's acknowledgement is stored, so it must not arrive again.
    case done(Lane, MessageNumber)
    /// An unexpected problem occurred.
    case trouble(String)

    init?(_ text: some StringProtocol) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        let rest = { (count: Int) in words.dropFirst(count).joined(separator: " ") }
        let message = Self.message(words)
        switch (words.first, message) {
        case ("opened", _):
            guard let milliseconds = Int(rest(1)) else { return nil }
            self = .opened(milliseconds)
        case ("ready", _): self = .ready
        case ("trouble", _): self = .trouble(rest(1))
        case ("accepted", let (lane, number)?): self = .accepted(lane, number)
        case ("refused", let (lane, number)?): self = .refused(lane, number, rest(3))
        case ("done", let (lane, number)?): self = .done(lane, number)
        case ("processing", let (lane, number)?):
            guard words.count == 4, let id = UInt16(words[3]) else { return nil }
            self = .processing(lane, number, packetID: id)
        default: return nil
        }
    }

    private static func message(_ words: [some StringProtocol]) -> (Lane, MessageNumber)? {
        guard words.count >= 3, let id = Int(words[1]), Lane.all.indices.contains(id), let number = Int(words[2])
        else { return nil }
        return (Lane.all[id], MessageNumber(number))
    }

    /// The text of the line, without its line break.
    var text: String {
        switch self {
        case .opened(let milliseconds): "opened \(milliseconds)"
        case .ready: "ready"
        case .accepted(let lane, let number): "accepted \(lane.id) \(number.value)"
        case .refused(let lane, let number, let why):
            "refused \(lane.id) \(number.value) \(why.replacing("\n", with: " "))"
        case .processing(let lane, let number, let packetID): "processing \(lane.id) \(number.value) \(packetID)"
        case .done(let lane, let number): "done \(lane.id) \(number.value)"
        case .trouble(let what): "trouble \(what.replacing("\n", with: " "))"
        }
    }

    /// Writes the line to the parent with one system call. Exits if the parent is gone.
    func report() {
        let bytes = Array((text + "\n").utf8)
        while Glibc.write(1, bytes, bytes.count) < 0 {
            guard errno == EINTR else { exit(4) }
        }
    }
}
