import Foundation

/// The report of `courier bench` as one self-contained SVG picture. It is light or dark, according to the viewer's
/// settings.
///
/// The picture also contains the measured numbers: in `data-` attributes, and as tooltips.
struct BenchPicture {
    private static let width = 880.0
    private static let margin = 32.0
    /// The x coordinate of the vertical axis of each chart. The labels of its marks are on the left of this position.
    private static let axis = margin + 64
    private static let right = width - margin
    /// The maximum number of bars in the histogram, because more bars would be too narrow.
    static let barLimit = 64
    /// The width of a bar's label in SVG units, including the space to the next label.
    private static let nameWidth = 92.0
    private static let shares: KeyValuePairs<String, Double> = [
        "50 %": 0.5, "75 %": 0.75, "90 %": 0.9, "95 %": 0.95, "99 %": 0.99, "99.9 %": 0.999, "longest": 1,
    ]

    // Both styles, light and dark, have their own blue. Each blue has a contrast ratio of at least 4.5 to its
    // background. This is enough for text and for lines.
    private static let style = """
        svg { background: #ffffff; font: 13px system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
        text { fill: #1f2733; font-variant-numeric: tabular-nums; }
        .title { font-size: 20px; font-weight: 600; }
        .figure { font-size: 24px; font-weight: 600; }
        .heading { font-size: 15px; font-weight: 600; }
        .quiet { fill: #5a6472; }
        .grid { stroke: #e2e6eb; stroke-width: 1; }
        .base { stroke: #8a94a3; stroke-width: 1; }
        .bar, .dot { fill: #2f6fd0; }
        .curve { fill: none; stroke: #2f6fd0; stroke-width: 2; stroke-linejoin: round; }
        .below { fill: #2f6fd0; fill-opacity: 0.12; }
        .stem { stroke: #2f6fd0; stroke-width: 2; stroke-opacity: 0.35; }
        @media (prefers-color-scheme: dark) {
        svg { background: #12171e; }
        text { fill: #e8edf3; }
        .quiet { fill: #a3aebb; }
        .grid { stroke: #2a323c; }
        .base { stroke: #6b7684; }
        .bar, .dot { fill: #74a9f7; }
        .curve { stroke: #74a9f7; }
        .below { fill: #74a9f7; fill-opacity: 0.16; }
        .stem { stroke: #74a9f7; }
        }
        """

    private let report: BenchReport
    /// The measured broker and load, in one line.
    private let subtitle: String
    private var drawing = SVGDrawing()

    /// Draws the picture.
    ///
    /// - Parameters:
    ///   - report: The results of the run.
    ///   - subtitle: The measured broker and load, in one line.
    init(_ report: BenchReport, subtitle: String) {
        self.report = report
        self.subtitle = subtitle
        draw()
    }

    /// The content of the SVG file.
    var text: String { "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + drawing.text }

    private mutating func draw() {
        let height = 900.0
        drawing.begin(
            "svg",
            [
                "xmlns": "http://www.w3.org/2000/svg", "viewBox": "0 0 \(Int(Self.width)) \(Int(height))",
                "width": SVGDrawing.number(Self.width), "height": SVGDrawing.number(height), "role": "img",
                "aria-labelledby": "title description",
            ])
        drawing.add("title", text: "courier bench", ["id": "title"])
        drawing.add(
            "desc", text: "\(subtitle). \(report.headLines.joined(separator: "; "))", ["id": "description"])
        drawing.add("style", text: Self.style)
        drawing.label("courier bench", Self.margin, 44, class: "title")
        drawing.label(subtitle, Self.margin, 66, class: "quiet")
        if report.showsConnections { drawing.label(connections, Self.margin, 84, class: "quiet") }
        drawFigures(top: report.showsConnections ? 100 : 92)
        drawRates(top: 180, height: 160)
        if report.subject != .sending {
            drawPercentiles(top: 420)
            drawHistogram(top: 684, height: 150)
        }
        drawing.end()
    }

    // MARK: Key figures

    /// The clients, and the counts and times of their connections, in one line.
    private var connections: String {
        let figures = report.connections
        let number = BenchReport.grouped
        var text =
            "\(number(figures.publisherCount)) publishing and \(number(figures.subscriberCount)) subscribing clients; "
            + "\(number(figures.openedCount)) connections opened in \(String(format: "%.2f", figures.openingTime / .seconds(1))) s"
        if figures.times.total > 1, report.subject != .connection {
            let (median, slow) = (figures.times.percentile(0.5), figures.times.percentile(0.99))
            text += ", median \(BenchReport.text(median)), 99 % \(BenchReport.text(slow))"
        }
        if figures.failedCount > 0 { text += ", \(number(figures.failedCount)) failed" }
        if figures.lostCount > 0 { text += ", \(number(figures.lostCount)) lost" }
        return text
    }

    private mutating func drawFigures(top: Double) {
        let figures = [
            (BenchReport.grouped(Int(report.rate.rounded())), "\(report.unit) per second"),
            (BenchReport.grouped(report.count), report.shortOutcome),
            (
                report.hasTimes ? BenchReport.text(report.histogram.percentile(0.5)) : "–",
                report.subject == .connection ? "median time" : "median latency"
            ),
            (report.hasTimes ? BenchReport.text(report.histogram.percentile(0.99)) : "–", "99th percentile"),
        ]
        let step = (Self.right - Self.margin) / Double(figures.count)
        for (index, (figure, name)) in figures.enumerated() {
            let x = Self.margin + Double(index) * step
            drawing.label(figure, x, top + 24, class: "figure")
            drawing.label(name, x, top + 44, class: "quiet")
        }
    }

    // MARK: Rate

    private mutating func drawRates(top: Double, height: Double) {
        let points = report.timeline.points(until: report.duration)
        drawing.label("\(report.unit.capitalized) per second over time", Self.margin, top, class: "heading")
        let (above, bottom) = (top + 20, top + 20 + height)
        let scale = AxisScale(upTo: points.map(\.rate).max() ?? 0)
        drawRows(scale.marks, of: scale.end, above, bottom)
        let seconds = max(points.last?.end ?? 0, report.duration / .seconds(1))
        let time = AxisScale(upTo: seconds)
        for mark in time.marks where mark <= seconds * 1.0001 {
            let x = Self.axis + mark / seconds * (Self.right - Self.axis)
            drawing.line(x, bottom, x, bottom + 4, class: "base")
            drawing.label(Self.text(mark) + " s", x, bottom + 20, class: "quiet", anchor: "middle")
        }
        guard !points.isEmpty, seconds > 0 else { return }
        // Each time span is drawn as a horizontal line at the height of its rate.
        func x(_ second: Double) -> String {
            SVGDrawing.number(Self.axis + second / seconds * (Self.right - Self.axis))
        }
        func y(_ rate: Double) -> String { SVGDrawing.number(bottom - rate / scale.end * height) }
        let steps = points.map { "L\(x($0.start)) \(y($0.rate)) L\(x($0.end)) \(y($0.rate))" }.joined(separator: " ")
        let (start, end) = ("\(x(0)) \(SVGDrawing.number(bottom))", "\(x(seconds)) \(SVGDrawing.number(bottom))")
        drawing.add("path", ["class": "below", "d": "M\(start) \(steps) L\(end) Z"])
        drawing.add(
            "path",
            [
                "class": "curve", "d": "M" + steps.dropFirst(),
                "data-counts": points.map { "\($0.count)" }.joined(separator: " "),
                "data-ends": points.map { String(format: "%.3f", $0.end) }.joined(separator: " "),
            ], title: "\(points.count) time spans; the scale ends at \(Self.text(scale.end)) \(report.unit)/s")
    }

    // MARK: Percentiles

    /// Draws the percentiles on a logarithmic time axis. The axis covers the powers of ten from the shortest to the
    /// longest time.
    private mutating func drawPercentiles(top: Double) {
        drawing.label(
            report.timeName.prefix(1).uppercased() + report.timeName.dropFirst(), Self.margin, top, class: "heading")
        guard report.histogram.total > 0 else { return }
        let first = floor(log10(Double(max(1, report.histogram.least))))
        let last = max(first + 1, ceil(log10(Double(max(1, report.histogram.most)))))
        func x(_ nanoseconds: Double) -> Double {
            let share = (log10(max(1, nanoseconds)) - first) / (last - first)
            return Self.axis + share * (Self.right - 80 - Self.axis)
        }
        let bottom = top + 20 + Double(Self.shares.count) * 26
        for power in Int(first)...Int(last) {
            let place = x(pow(10, Double(power)))
            drawing.line(place, top + 16, place, bottom, class: "grid")
            drawing.label(
                BenchReport.text(UInt64(pow(10, Double(power)))), place, bottom + 18, class: "quiet", anchor: "middle")
        }
        for (index, (name, share)) in Self.shares.enumerated() {
            let time = report.histogram.percentile(share)
            let (place, y) = (x(Double(time)), top + 34 + Double(index) * 26)
            drawing.label(name, Self.axis - 10, y + 4, class: "quiet", anchor: "end")
            drawing.line(Self.axis, y, place, y, class: "stem")
            drawing.add(
                "circle",
                [
                    "class": "dot", "cx": SVGDrawing.number(place), "cy": SVGDrawing.number(y), "r": "5",
                    "data-share": "\(share)", "data-nanoseconds": "\(time)",
                ], title: "\(name): \(BenchReport.text(time))")
            drawing.label(BenchReport.text(time), place + 12, y + 4)
        }
    }

    // MARK: Histogram

    private mutating func drawHistogram(top: Double, height: Double) {
        let bars = report.histogram.bars(atMost: Self.barLimit)
        let time = report.subject == .connection ? "time" : "latency"
        drawing.label("Number of \(report.unit) by \(time)", Self.margin, top, class: "heading")
        let (above, bottom) = (top + 20, top + 20 + height)
        let scale = AxisScale(upTo: Double(bars.map(\.count).max() ?? 0))
        // The vertical axis counts events, so only marks with whole numbers are drawn.
        drawRows(scale.marks.filter { $0 == $0.rounded() }, of: scale.end, above, bottom)
        let step = (Self.right - Self.axis) / Double(max(1, bars.count))
        let thickness = min(step - 2, 56)
        for (index, bar) in bars.enumerated() {
            let x = Self.axis + (Double(index) + 0.5) * step
            let length = Double(bar.count) / scale.end * height
            drawing.add(
                "rect",
                [
                    "class": "bar", "x": SVGDrawing.number(x - thickness / 2), "y": SVGDrawing.number(bottom - length),
                    "width": SVGDrawing.number(thickness), "height": SVGDrawing.number(length),
                    "data-below": "\(bar.end)", "data-count": "\(bar.count)",
                ], title: "below \(BenchReport.text(bar.end)): \(BenchReport.grouped(bar.count))")
            // If the bars are narrower than their labels, some bars have no label, so that labels do not overlap.
            if index % max(1, Int((Self.nameWidth / step).rounded(.up))) == 0 {
                drawing.label("< \(BenchReport.text(bar.end))", x, bottom + 20, class: "quiet", anchor: "middle")
            }
        }
    }

    /// Draws the horizontal grid lines of a chart and their labels.
    private mutating func drawRows(_ marks: [Double], of end: Double, _ top: Double, _ bottom: Double) {
        for mark in marks {
            let y = bottom - mark / end * (bottom - top)
            drawing.line(Self.axis, y, Self.right, y, class: mark == 0 ? "base" : "grid")
            drawing.label(Self.text(mark), Self.axis - 10, y + 4, class: "quiet", anchor: "end")
        }
    }

    /// Returns the label of a mark, which is a round number.
    private static func text(_ number: Double) -> String {
        Int(exactly: number).map { BenchReport.grouped($0) } ?? String(format: "%g", number)
    }
}
