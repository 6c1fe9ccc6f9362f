import Foundation

/// Formats and prints status texts.
enum Text {
    /// Returns a status line such as `2,000 vehicles  5,003/s  4 ms behind, 31 at worst`.
    static func line(_ picture: Fleet.Picture) -> String {
        let figures = picture.figures
        let missed = figures.missed > 0 ? "  \(grouped(figures.missed)) missed" : ""
        return "\(grouped(picture.vehicles.count)) vehicles  \(grouped(figures.perSecond))/s  "
            + "\(grouped(figures.age)) ms behind, \(grouped(figures.worstAge)) at worst\(missed)"
    }

    static func grouped(_ number: Int) -> String {
        var text = ""
        for (place, digit) in "\(number)".reversed().enumerated() {
            if place > 0, place.isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return String(text.reversed())
    }

    /// Prints text without the buffer of `print`, so that it is visible at once, even through a pipe.
    static func write(_ text: String) { try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8)) }
}
