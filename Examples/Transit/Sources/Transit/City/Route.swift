import Foundation

/// The route of a line, as a sequence of straight segments.
struct Route: Sendable {
    /// A position in kilometers east and north of the city center.
    struct Point: Sendable {
        var east: Double
        var north: Double
    }

    let mode: Mode
    let line: String
    /// The length of the route in kilometers.
    let length: Double
    private let points: [Point]
    /// The distance of each point from the start in kilometers.
    private let distances: [Double]

    init(_ mode: Mode, line: String, through points: [Point]) {
        self.mode = mode
        self.line = line
        self.points = points
        var distances = [0.0]
        for (from, to) in zip(points, points.dropFirst()) {
            distances.append((distances.last ?? 0) + hypot(to.east - from.east, to.north - from.north))
        }
        self.distances = distances
        length = distances.last ?? 0
    }

    /// Returns the position at this distance from the start in kilometers, and the heading of a vehicle that moves away
    /// from the start.
    func place(at distance: Double) -> (point: Point, heading: Double) {
        // Binary search for the last segment that begins at or before the distance.
        var (low, high) = (0, max(points.count - 2, 0))
        while low < high {
            let middle = (low + high + 1) / 2
            if distances[middle] <= distance { low = middle } else { high = middle - 1 }
        }
        let (from, to) = (points[low], points[min(low + 1, points.count - 1)])
        let pieceLength = hypot(to.east - from.east, to.north - from.north)
        let part = pieceLength > 0 ? min(max((distance - distances[low]) / pieceLength, 0), 1) : 0
        let heading = atan2(to.east - from.east, to.north - from.north) * 180 / .pi
        let point = Point(
            east: from.east + (to.east - from.east) * part, north: from.north + (to.north - from.north) * part)
        return (point, heading < 0 ? heading + 360 : heading)
    }
}
