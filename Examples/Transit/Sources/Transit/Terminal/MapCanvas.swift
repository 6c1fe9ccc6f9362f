/// A grid of Braille characters with eight dots each. Each character has one color.
struct MapCanvas: Sendable {
    let columns: Int
    let rows: Int
    /// The dots of vehicles in each character, as bits.
    private var dots: [UInt8]
    /// The dots where vehicles have been: the streets.
    private var streets: [UInt8]
    private var modes: [Mode]

    /// Creates an empty canvas. A character is two dots wide and four dots high.
    init(columns: Int, rows: Int) {
        self.columns = max(columns, 1)
        self.rows = max(rows, 1)
        dots = [UInt8](repeating: 0, count: self.columns * self.rows)
        streets = dots
        modes = [Mode](repeating: .other, count: dots.count)
    }

    var width: Int { columns * 2 }
    var height: Int { rows * 4 }

    /// Removes all vehicles. The streets remain.
    mutating func removeVehicles() {
        for place in dots.indices { dots[place] = 0 }
    }

    /// Adds the dot of a vehicle. A position outside the map is ignored.
    mutating func add(_ mode: Mode, x: Int, y: Int) {
        guard (0..<width).contains(x), (0..<height).contains(y) else { return }
        let place = y / 4 * columns + x / 2
        dots[place] |= Self.bit(x % 2, y % 4)
        streets[place] |= Self.bit(x % 2, y % 4)
        modes[place] = mode
    }

    /// Returns a row as text for a terminal. A character with vehicles shows no streets, and has the color of the last
    /// added vehicle.
    func line(_ row: Int) -> String {
        var text = ""
        var color = ""
        for place in row * columns..<(row + 1) * columns {
            let isStreet = dots[place] == 0
            let shown = isStreet ? streets[place] : dots[place]
            guard shown != 0 else {
                text += " "
                continue
            }
            let wanted = isStreet ? Palette.street : Palette.escapeSequence(modes[place])
            if wanted != color { text += wanted }
            color = wanted
            text.unicodeScalars.append(Unicode.Scalar(0x2800 + UInt32(shown)) ?? " ")
        }
        return text + Palette.plain
    }

    /// Returns the bit of a dot in a Braille character. Unicode numbers the upper three rows column by column, then the
    /// fourth row.
    private static func bit(_ x: Int, _ y: Int) -> UInt8 {
        switch (x, y) {
        case (0, 3): 0x40
        case (_, 3): 0x80
        case (0, _): 1 << UInt8(y)
        default: 8 << UInt8(y)
        }
    }
}

/// The colors for terminals with 256 colors.
enum Palette {
    static let plain = "\u{1B}[0m"
    static let strong = "\u{1B}[1m"
    static let street = "\u{1B}[38;5;240m"

    static func escapeSequence(_ mode: Mode) -> String {
        let number =
            switch mode {
            case .bus: 39
            case .tram: 41
            case .metro: 208
            case .train: 171
            case .ferry: 51
            case .other: 250
            }
        return "\u{1B}[38;5;\(number)m"
    }
}
