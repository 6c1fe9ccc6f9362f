import Foundation

/// The command-line options.
struct Settings {
    enum Role: String {
        /// A device that publishes its attitude, and changes its color when it receives an alert.
        case device
        /// A viewer that shows the devices of a broker.
        case viewer
    }

    struct Mistake: Error { let sentence: String }

    static let usage = """
        usage: Motions                    a device, a viewer and a broker in this process
               Motions device [options]   a device that tells how it is held, once a second
               Motions viewer [options]   shows the devices of a broker, 100 at most
          --host HOST      the broker; one in this process when it is not given
          --port PORT      its port, 1883 by default
          --id ID          the device's identifier; a new UUID by default
          --every SECONDS  how often the device tells, 1 by default
          --count NUMBER   how many messages the device sends before it ends; it does not end by default
          --recorded       the device is held as the one that the book recorded, instead of being moved about
        """

    /// The part to run. If it is `nil`, the device and the viewer run in this process.
    var role: Role?
    /// The broker's host. If it is `nil`, a broker in this process is used.
    var host: String?
    var port: UInt16 = 1883
    var deviceID = UUID().uuidString
    var interval = Duration.seconds(1)
    var count = Int.max
    var isRecorded = false

    init(_ arguments: some Sequence<String>) throws(Mistake) {
        var rest = Array(arguments)
        if let first = rest.first, let role = Role(rawValue: first) {
            self.role = role
            rest.removeFirst()
        }
        var next = rest.makeIterator()
        while let option = next.next() {
            switch option {
            case "--host": host = try Self.value(next.next(), of: option) { $0 }
            case "--port": port = try Self.value(next.next(), of: option) { UInt16($0) }
            case "--id": deviceID = try Self.value(next.next(), of: option) { $0 }
            case "--every": interval = try Self.value(next.next(), of: option, Self.interval)
            case "--count": count = try Self.value(next.next(), of: option) { Int($0) }
            case "--recorded": isRecorded = true
            default: throw Mistake(sentence: "\(option) is no option")
            }
        }
    }

    /// Parses an interval between 0.01 seconds and one day.
    private static func interval(_ text: String) -> Duration? {
        guard let seconds = Double(text), (0.01...86_400).contains(seconds) else { return nil }
        return .seconds(seconds)
    }

    private static func value<Value>(
        _ text: String?, of option: String, _ read: (String) -> Value?
    ) throws(Mistake) -> Value {
        guard let text else { throw Mistake(sentence: "\(option) lacks its value") }
        guard let value = read(text) else { throw Mistake(sentence: "\(option) can not be \"\(text)\"") }
        return value
    }
}
