import Foundation

/// An SVG figure with one small chart for each drawn policy: attempts per second over time, and the broker's limit.
struct Figure {
    private static let columns = 2
    private static let panel = (width: 400.0, height: 150.0)
    private static let gap = (left: 58.0, top: 44.0, right: 26.0, bottom: 34.0)
    private static let seconds = 420
    /// The powers of ten on the vertical axis: from 100 to 10 million attempts per second.
    private static let decades = 2...7

    let scene: Scene
    let outcomes: [Outcome]

    var text: String {
        let drawn = zip(Contestant.all, outcomes).filter(\.0.isDrawn)
        let step = (
            x: Self.panel.width + Self.gap.left + Self.gap.right, y: Self.panel.height + Self.gap.top + Self.gap.bottom
        )
        let rows = (drawn.count + Self.columns - 1) / Self.columns
        let size = (width: step.x * Double(Self.columns), height: step.y * Double(rows))
        var lines = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.short(size.width)) \(Self.short(size.height))" \
            font-family="system-ui, sans-serif" font-size="12" role="img">
            """,
            "<title>Attempts per second after a broker was lost, by reconnect policy</title>",
            """
            <style>
            text { fill: #444 } .name { font-weight: 600 } .axis { stroke: #888; fill: none } .grid { stroke: #8884 }
            .rate { stroke: #0969da; fill: #0969da33; stroke-width: 1.2 } .limit { stroke: #c4432b; stroke-dasharray: 5 3 }
            .down { fill: #8883 }
            @media (prefers-color-scheme: dark) {
            text { fill: #c9d1d9 } .rate { stroke: #58a6ff; fill: #58a6ff33 } .limit { stroke: #ff7b72 }
            }
            </style>
            """,
        ]
        for (index, (contestant, outcome)) in drawn.enumerated() {
            let x = Double(index % Self.columns) * step.x + Self.gap.left
            let y = Double(index / Self.columns) * step.y + Self.gap.top
            lines.append("<g transform=\"translate(\(Self.short(x)) \(Self.short(y)))\">")
            lines += panel(contestant, outcome)
            lines.append("</g>")
        }
        lines.append("</svg>\n")
        return lines.joined(separator: "\n")
    }

    private func panel(_ contestant: Contestant, _ outcome: Outcome) -> [String] {
        let (width, height) = Self.panel
        let name = contestant.name.filter { $0 != "*" && $0 != "`" }
        var lines = [
            "<text class=\"name\" y=\"-14\">\(name)</text>",
            "<rect class=\"down\" width=\"\(Self.short(Self.x(Double(scene.downTime) / 1_000)))\" height=\"\(Self.short(height))\"/>",
            "<text x=\"4\" y=\"14\">no broker</text>",
        ]
        for decade in Self.decades {
            let y = Self.short(Self.y(pow(10, Double(decade))))
            let label = ["100", "1 k", "10 k", "100 k", "1 M", "10 M"][decade - Self.decades.lowerBound]
            lines.append("<line class=\"grid\" x2=\"\(Self.short(width))\" y1=\"\(y)\" y2=\"\(y)\"/>")
            lines.append("<text x=\"-6\" y=\"\(y)\" dy=\"4\" text-anchor=\"end\">\(label)</text>")
        }
        for second in stride(from: 0, through: Self.seconds, by: 60) {
            lines.append(
                "<text x=\"\(Self.short(Self.x(Double(second))))\" y=\"\(Self.short(height + 16))\" text-anchor=\"middle\">\(second) s</text>"
            )
        }
        lines.append("<path class=\"rate\" d=\"\(curve(outcome))\"/>")
        let limit = Self.short(Self.y(Double(scene.acceptedPerMillisecond) * 1_000))
        lines.append("<line class=\"limit\" x2=\"\(Self.short(width))\" y1=\"\(limit)\" y2=\"\(limit)\"/>")
        lines.append("<path class=\"axis\" d=\"M0 0V\(Self.short(height))H\(Self.short(width))\"/>")
        return lines
    }

    /// Returns the path of the curve. Each point is the second's busiest tenth, as a rate per second.
    private func curve(_ outcome: Outcome) -> String {
        var path = "M0 \(Self.short(Self.panel.height))"
        for second in 0..<Self.seconds {
            let tenths = outcome.arrivals.dropFirst(second * 10).prefix(10)
            path += "L\(Self.short(Self.x(Double(second)))) \(Self.short(Self.y(Double(tenths.max() ?? 0) * 10)))"
        }
        return path + "V\(Self.short(Self.panel.height))Z"
    }

    private static func x(_ second: Double) -> Double { second / Double(seconds) * panel.width }

    private static func y(_ rate: Double) -> Double {
        let low = Double(decades.lowerBound)
        let part = (log10(max(rate, 1)) - low) / (Double(decades.upperBound) - low)
        return panel.height * (1 - min(max(part, 0), 1))
    }

    /// Returns the number with at most one decimal. A tenth is less than a pixel.
    private static func short(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
    }
}
