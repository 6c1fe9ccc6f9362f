import CourierMQTT
import Foundation

@main struct Tracing {
    static let usage = """
        usage: Tracing bill COUNT ARCHIVE [PORT]    sends an invoice for each of COUNT orders
               Tracing shop COUNT ARCHIVE [PORT]    sends COUNT orders, and waits for their invoices
               Tracing join ARCHIVE ARCHIVE         prints the messages of each trace
        """

    static func main() async throws {
        let words = CommandLine.arguments.dropFirst().map(\.self)
        guard (3...4).contains(words.count), let port = words.count == 4 ? UInt16(words[3]) : 1_883 else {
            say(usage)
            exit(2)
        }
        let count = Int(words[1]).flatMap { (1...10_000).contains($0) ? $0 : nil }
        switch (words[0], count) {
        case ("bill", let count?): try await Billing(count: count, archive: words[2], port: port).run()
        case ("shop", let count?): try await Shop(count: count, archive: words[2], port: port).run()
        case ("join", _): try Join(archives: [words[1], words[2]]).run()
        default:
            say(usage)
            exit(2)
        }
    }
}

/// Prints a line, and flushes it so that it is visible at once, even through a pipe.
func say(_ line: String) {
    print(line)
    fflush(nil)
}
