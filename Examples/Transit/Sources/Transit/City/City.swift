import Foundation

/// The lines of an invented city by the sea. Metro and train lines run out of the center, trams stay in the center,
/// buses run everywhere, and there are ferries. Its coordinates are those of the city in the article.
struct City: Sendable {
    /// The rotation of the street grid in radians.
    private static let tilt = 0.35
    /// The distance between two crossings in kilometers.
    private static let block = 0.45
    private static let (latitude, longitude) = (60.19, 24.94)
    private static let kilometresPerDegree = 111.2

    /// The percentage of vehicles and the number of lines for each mode.
    private static let shares: [(mode: Mode, vehicles: Int, lines: Int)] = [
        (.bus, 66, 70), (.tram, 20, 12), (.metro, 4, 2), (.train, 7, 6), (.ferry, 3, 3),
    ]

    let routes: [Mode: [Route]]

    init(seed: UInt64 = 1604) {
        var random = SeededGenerator(seed: seed)
        var routes: [Mode: [Route]] = [:]
        for share in Self.shares {
            routes[share.mode] = (1...share.lines).map { number in
                Self.route(share.mode, number, of: share.lines, using: &random)
            }
        }
        self.routes = routes
    }

    /// Creates `count` vehicles on the lines, distributed according to the shares of the modes.
    func vehicles(count: Int) -> [Ride] {
        var random = SeededGenerator(seed: 2017)
        var rides: [Ride] = []
        var end = 0
        for share in Self.shares {
            end += share.vehicles
            let lines = routes[share.mode] ?? []
            while rides.count < count * end / 100, let route = lines[rides.count % lines.count] as Route? {
                rides.append(Ride(route, number: rides.count, using: &random))
            }
        }
        return rides
    }

    static func coordinates(_ point: Route.Point) -> (latitude: Double, longitude: Double) {
        let degrees = point.north / kilometresPerDegree
        return (latitude + degrees, longitude + point.east / (kilometresPerDegree * cos(latitude * .pi / 180)))
    }

    // MARK: Lines

    private static func route(
        _ mode: Mode, _ number: Int, of count: Int, using random: inout SeededGenerator
    ) -> Route {
        switch mode {
        case .bus:
            let start = Double.random(in: 0..<7, using: &random) * (number % 3 == 0 ? 1 : 0.15)
            let angle = Double.random(in: 0..<2 * .pi, using: &random)
            let far = Double.random(in: 3.5..<9, using: &random)
            let from = inland(angle + .pi * Double.random(in: 0.6..<1.4, using: &random), start)
            return streets(mode, "\(10 + number)", from, inland(angle, far), using: &random)
        case .tram:
            let angle = Double(number) / Double(count) * 2 * .pi
            return streets(
                mode, "\(number)", inland(angle, 2.6), inland(angle + .pi * 0.8, 3.2), using: &random)
        case .metro:
            let bend = number == 1 ? -0.8 : 1.6
            let points = (0...40).map { step in
                let part = Double(step) / 40 * 2 - 1
                return Route.Point(east: part * 9.5, north: 0.6 + bend * sin(part * 2.2) + part * part)
            }
            return Route(mode, line: "M\(number)", through: points)
        case .train:
            let angle = (Double(number) - Double(count + 1) / 2) * 0.42
            let points = (0...30).map { step in
                let distance = Double(step) / 30 * 9.5
                let turned = angle + sin(distance / 4 + Double(number)) * 0.08
                return Route.Point(east: sin(turned) * distance, north: cos(turned) * distance)
            }
            return Route(mode, line: ["I", "P", "K", "E", "U", "R"][(number - 1) % 6], through: points)
        case .ferry, .other:
            let target = Route.Point(east: -3 + 3 * Double(number), north: -6.2 + 0.5 * Double(number))
            return Route(
                mode, line: "F\(number)",
                through: [
                    Route.Point(east: 0.4, north: -3), Route.Point(east: target.east / 2, north: -4.4), target,
                ])
        }
    }

    /// Returns a point at this distance in kilometers from the center. Points in the sea, south of the shore, are moved
    /// near the shore.
    private static func inland(_ angle: Double, _ distance: Double) -> Route.Point {
        let north = cos(angle) * distance
        return Route.Point(east: sin(angle) * distance, north: north < -2.6 ? -2.6 + (north + 2.6) * 0.1 : north)
    }

    /// Returns a route along streets, which cross at right angles.
    private static func streets(
        _ mode: Mode, _ line: String, _ from: Route.Point, _ to: Route.Point, using random: inout SeededGenerator
    ) -> Route {
        func turned(_ point: Route.Point, by angle: Double) -> Route.Point {
            Route.Point(
                east: point.east * cos(angle) - point.north * sin(angle),
                north: point.east * sin(angle) + point.north * cos(angle))
        }
        func crossing(_ point: Route.Point) -> (Int, Int) {
            let turned = turned(point, by: -tilt)
            return (Int((turned.east / block).rounded()), Int((turned.north / block).rounded()))
        }
        var (x, y) = crossing(from)
        let (endX, endY) = crossing(to)
        var points: [Route.Point] = []
        func add() { points.append(turned(Route.Point(east: Double(x) * block, north: Double(y) * block), by: tilt)) }
        add()
        while x != endX || y != endY {
            let blocks = Int.random(in: 1...4, using: &random)
            let goesAcross = y == endY || (x != endX && Bool.random(using: &random))
            if goesAcross {
                x += (endX - x).signum() * min(blocks, abs(endX - x))
            } else {
                y += (endY - y).signum() * min(blocks, abs(endY - y))
            }
            add()
        }
        if points.count == 1 {
            x += 3
            add()
        }
        return Route(mode, line: line, through: points)
    }
}
