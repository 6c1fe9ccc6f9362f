import Foundation
import Synchronization

/// Draws the map in a terminal ten times per second, in the current size of the terminal.
actor TerminalMap {
    static let frameTime = Duration.milliseconds(100)

    private let fleet: Fleet
    private let place: String
    private let writer = TerminalWriter()
    private var canvas = MapCanvas(columns: 1, rows: 1)
    private var bounds = Bounds()
    private var size = winsize()
    /// The lines that the terminal shows, so that only changed lines are written.
    private var shown: [String] = []

    /// Creates a map of a fleet. `place` is an additional text, such as the address of the page.
    init(_ fleet: Fleet, place: String) {
        self.fleet = fleet
        self.place = place
    }

    /// Draws until the task is cancelled, then restores the terminal.
    func run() async {
        // Switch to the alternate screen, hide the cursor, and turn off line wrap.
        writer.write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l")
        while !Task.isCancelled {
            draw(await fleet.picture())
            try? await Task.sleep(for: Self.frameTime)
        }
        await writer.finish("\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l")
    }

    private func draw(_ picture: Fleet.Picture) {
        // If the terminal is slow, skip this picture, so that unwritten output does not pile up.
        guard writer.isIdle else { return }
        prepare(picture)
        let vehicles = picture.vehicles
        canvas.removeVehicles()
        for vehicle in vehicles {
            let dot = bounds.dot(vehicle, width: canvas.width, height: canvas.height)
            canvas.add(vehicle.mode, x: dot.x, y: dot.y)
        }
        var lines = [heading(picture)]
        lines += (0..<canvas.rows).map(canvas.line)
        lines.append(legend(vehicles))
        var changes = ""
        for (row, line) in lines.enumerated() where row >= shown.count || shown[row] != line {
            changes += "\u{1B}[\(row + 1);1H\(line)\u{1B}[K"
        }
        shown = lines
        if !changes.isEmpty { writer.write(changes) }
    }

    /// Creates a new canvas if the size of the terminal or the area of the map has changed.
    private func prepare(_ picture: Fleet.Picture) {
        var newSize = winsize()
        let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &newSize) == 0 && newSize.ws_col > 0 && newSize.ws_row > 3
        if !isKnown { newSize = winsize(ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0) }
        var newBounds = bounds
        newBounds.include(picture.vehicles)
        guard newSize.ws_col != size.ws_col || newSize.ws_row != size.ws_row || newBounds != bounds else { return }
        if newSize.ws_col != size.ws_col || newSize.ws_row != size.ws_row {
            shown = []
            writer.write("\u{1B}[2J")
        }
        size = newSize
        bounds = newBounds
        canvas = MapCanvas(columns: Int(size.ws_col), rows: Int(size.ws_row) - 2)
    }

    private func heading(_ picture: Fleet.Picture) -> String {
        let text = "Transit  \(Text.line(picture))"
        return Palette.strong + text.prefix(Int(size.ws_col)) + Palette.plain
    }

    private func legend(_ vehicles: [Sighting]) -> String {
        var counts = [Int](repeating: 0, count: Mode.allCases.count)
        for vehicle in vehicles { counts[Int(vehicle.mode.rawValue)] += 1 }
        var left = Int(size.ws_col)
        var text = ""
        for mode in Mode.allCases {
            let entry = "\(mode.name) \(counts[Int(mode.rawValue)])  "
            guard counts[Int(mode.rawValue)] > 0, entry.count <= left else { continue }
            text += Palette.escapeSequence(mode) + entry
            left -= entry.count
        }
        return text + Palette.plain + (place.count <= left ? place : "")
    }
}

/// Writes to the terminal on its own queue, because a write to a slow terminal blocks.
private final class TerminalWriter: Sendable {
    private let queue = DispatchQueue(label: "terminal")
    private let waiting = Atomic(0)

    /// True if all text has been written.
    var isIdle: Bool { waiting.load(ordering: .relaxed) == 0 }

    func write(_ text: String) {
        waiting.add(1, ordering: .relaxed)
        queue.async { [self] in
            Text.write(text)
            waiting.subtract(1, ordering: .relaxed)
        }
    }

    /// Writes the last text, and returns when it is written.
    func finish(_ text: String) async {
        await withCheckedContinuation { continuation in
            queue.async {
                Text.write(text)
                continuation.resume()
            }
        }
    }
}
