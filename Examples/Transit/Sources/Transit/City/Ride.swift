import Foundation

/// A vehicle that travels back and forth on its line, waits at stops, and reports its position.
struct Ride: Sendable {
    /// The topic of the vehicle's messages.
    let topic: String

    private static let kilometresBetweenStops = 0.5
    private static let secondsAtStop = 12.0

    private let route: Route
    private let vehicle: String
    private let cruisingSpeed: Double
    private let delay: Int
    /// The distance from the start of the line in kilometers.
    private var distance: Double
    private var isReturning: Bool
    /// The remaining waiting time at a stop in seconds.
    private var standing = 0.0

    init(_ route: Route, number: Int, using random: inout SeededGenerator) {
        self.route = route
        vehicle = String(format: "%c%04d", UInt8(ascii: "A") + route.mode.rawValue, number)
        topic = "/hfp/journey/\(route.mode.name)/\(vehicle)/\(route.line)"
        distance = Double.random(in: 0...max(route.length, 0.001), using: &random)
        isReturning = Bool.random(using: &random)
        delay = Int.random(in: -60...240, using: &random)
        let kilometresPerHour =
            switch route.mode {
            case .bus: 26.0
            case .tram: 20.0
            case .metro: 45.0
            case .train: 60.0
            case .ferry, .other: 16.0
            }
        cruisingSpeed = kilometresPerHour / 3_600 * Double.random(in: 0.8...1.2, using: &random)
    }

    /// Moves the vehicle for this number of seconds.
    mutating func advance(by seconds: Double) {
        let moving = seconds - standing
        standing = max(0, standing - seconds)
        guard moving > 0 else { return }
        let old = distance
        distance += cruisingSpeed * moving * (isReturning ? -1 : 1)
        if distance <= 0 || distance >= route.length {
            distance = min(max(distance, 0), route.length)
            isReturning.toggle()
            standing = Self.secondsAtStop
        } else if Int(old / Self.kilometresBetweenStops) != Int(distance / Self.kilometresBetweenStops) {
            standing = Self.secondsAtStop
        }
    }

    /// Returns the vehicle's message in the format of the article's feed.
    func message(_ time: MessageTime) -> String {
        let (point, away) = route.place(at: distance)
        let (latitude, longitude) = City.coordinates(point)
        let heading = Int(isReturning ? away + 180 : away) % 360
        let speed = standing > 0 ? 0 : Self.rounded(cruisingSpeed * 1_000, 100)
        return """
            {"VP":{"dir":"\(isReturning ? 2 : 1)","spd":\(speed),"source":"generator","desi":"\(route.line)",\
            "lat":\(Self.rounded(latitude, 100_000)),"hdg":\(heading),"tst":"\(time.text)","line":"\(route.line)",\
            "start":"\(time.start)","long":\(Self.rounded(longitude, 100_000)),"jrn":"\(vehicle)",\
            "tsi":\(time.seconds),"dl":\(delay),"veh":"\(vehicle)","oper":"COURIER","oday":"\(time.day)",\
            "stop_index":\(Int(distance / Self.kilometresBetweenStops))}}
            """
    }

    private static func rounded(_ value: Double, _ parts: Double) -> Double { (value * parts).rounded() / parts }
}

/// A time in the formats that a message needs. It is created once for all messages of a group.
struct MessageTime {
    let text: String
    let seconds: Int
    let day: Substring
    let start: String

    init(_ date: Date) {
        text = date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        seconds = Int(date.timeIntervalSince1970)
        day = text.prefix(10)
        start = String(text.dropFirst(11).prefix(2)) + "00"
    }
}
