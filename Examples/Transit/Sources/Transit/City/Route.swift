import Foundation

/// The way of a line, as a row of straight pieces.
struct Route: Sendable {
    /// Kilometres east and north of the middle of the city.
    struct Point: Sendable {
        var east: Double
        var north: Double
    }

    let mode: Mode
    let line: String
    /// Kilometres.
    let length: Double
    private let points: [Point]
    /// How far from the start each point is.
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

    /// The place so many kilometres from the start, and the heading of who moves away from it.
    func place(at distance: Double) -> (point: Point, heading: Double) {
        // The last piece that begins before it.
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
