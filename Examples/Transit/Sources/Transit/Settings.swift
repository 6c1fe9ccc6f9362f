import CourierTransport
import Foundation

/// The command-line options.
struct Settings {
    enum Role: String {
        /// Publishes the vehicles of a city to a broker.
        case generate
        /// Draws the vehicles that a broker reports.
        case watch
    }

    struct Mistake: Error { let sentence: String }

    static let usage = """
        usage: Transit [options]            a city, a broker and a map in this process
               Transit generate [options]   plays the city to a broker
               Transit watch [options]      draws what a broker tells
          --host HOST         the broker; 127.0.0.1 by default
          --port PORT         its port, 1883 by default, 8883 with --tls
          --tls               speak TLS
          --user NAME         the user name; the password is taken from TRANSIT_PASSWORD
          --client-id ID      each % becomes a random letter or digit; transit_%%%% by default
          --ping SECONDS      how long the line may be silent, 60 by default
        the city
          --vehicles NUMBER   2000 by default
          --rate NUMBER       messages a second, 5000 by default
          --pace NUMBER       how many times as fast as a real city it moves, 5 by default
        the map
          --topic FILTER      the feed, /hfp/journey/# by default
          --buffer BYTES      how much is read at once, 4096 by default
          --reading CLASS     normal, utility or background, which is the default: how much reading matters beside other work
          --web PORT          the page's port; a free one by default
          --no-web            no page
          --plain             a line a second instead of the map
          --seconds NUMBER    how long to run; until Ctrl-C by default
        """

    /// The part to run. If it is `nil`, both parts run, with a broker in this process.
    var role: Role?
    var host = "127.0.0.1"
    private var chosenPort: UInt16?
    var usesTLS = false
    var username = ""
    var clientID = "transit_%%%%"
    var ping: UInt16 = 60
    var vehicleCount = 2_000
    var rate = 5_000.0
    var pace = 5.0
    var topic = "/hfp/journey/#"
    var bufferSize = 4_096
    var priority = LoopPriority.background
    var webPort: UInt16? = 0
    var isPlain = false
    var duration: Duration?

    var port: UInt16 { chosenPort ?? (usesTLS ? 8883 : 1883) }

    /// Selects the broker in this process.
    mutating func useLoopback(_ port: UInt16) {
        host = "127.0.0.1"
        chosenPort = port
        usesTLS = false
    }

    init(_ arguments: some Sequence<String>) throws(Mistake) {
        var rest = Array(arguments)
        if let first = rest.first, let role = Role(rawValue: first) {
            self.role = role
            rest.removeFirst()
        }
        var next = rest.makeIterator()
        while let option = next.next() { try set(option) { next.next() } }
    }

    private mutating func set(_ option: String, _ next: () -> String?) throws(Mistake) {
        func value<Value>(_ read: (String) -> Value?) throws(Mistake) -> Value {
            guard let text = next() else { throw Mistake(sentence: "\(option) lacks its value") }
            guard let value = read(text) else { throw Mistake(sentence: "\(option) can not be \"\(text)\"") }
            return value
        }
        switch option {
        case "--host": host = try value { $0 }
        case "--port": chosenPort = try value { UInt16($0) }
        case "--tls": usesTLS = true
        case "--user": username = try value { $0 }
        case "--client-id": clientID = try value { $0 }
        case "--ping": ping = try value { UInt16($0) }
        case "--vehicles": vehicleCount = try value { Int($0).flatMap { (1...Fleet.limit).contains($0) ? $0 : nil } }
        case "--rate": rate = try value { Double($0).flatMap { (1...1_000_000).contains($0) ? $0 : nil } }
        case "--pace": pace = try value { Double($0).flatMap { (0...1_000).contains($0) ? $0 : nil } }
        case "--topic": topic = try value { $0 }
        case "--buffer": bufferSize = try value { Int($0).flatMap { (4_096...1 << 24).contains($0) ? $0 : nil } }
        case "--reading": priority = try value(Self.priority)
        case "--web": webPort = try value { UInt16($0) }
        case "--no-web": webPort = nil
        case "--plain": isPlain = true
        case "--seconds": duration = try value { Double($0).flatMap { (0.1...1e9).contains($0) ? .seconds($0) : nil } }
        default: throw Mistake(sentence: "\(option) is no option")
        }
    }

    private static func priority(_ name: String) -> LoopPriority? {
        switch name {
        case "normal": .normal
        case "utility": .utility
        case "background": .background
        default: nil
        }
    }
}
