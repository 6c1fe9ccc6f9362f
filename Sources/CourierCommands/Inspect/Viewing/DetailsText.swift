import CourierMQTTChuck

/// The description of one packet, broken into lines that fit the terminal.
struct DetailsText: Sendable {
    let lines: [StyledLine]
    /// The index of the first payload line. These lines depend on the payload view.
    let payloadStart: Int

    /// Breaks the description into lines.
    ///
    /// - Parameters:
    ///   - details: The packet.
    ///   - view: The format in which the payload is shown.
    ///   - width: The maximum width of a line.
    init(_ details: MQTTChuckDetails, _ view: PayloadView, width: Int) {
        let text = PacketText(details)
        let title = details.row.isError ? TextStyle(colour: .red, isBold: true) : .bold
        var lines = Self.wrapped(text.title, width, title) + Self.wrapped(text.explanation, width, .faint) + [.blank]
        lines += Self.facts(text.facts, width)
        if !text.exchange.isEmpty {
            lines += [.blank, StyledLine("Its exchange:", .faint)] + text.exchange.map { StyledLine("  " + $0) }
        }
        payloadStart = lines.count + 1
        self.lines = lines + [.blank] + Self.payload(details, view, width)
    }

    /// Lays out the fields in two columns: the names on the left, and the values on the right, on several lines if
    /// needed.
    private static func facts(_ facts: [(name: String, value: String)], _ width: Int) -> [StyledLine] {
        let names = facts.map { GlyphText($0.name) }
        let column = min(names.map(\.width).max() ?? 0, max(8, width / 3)) + 2
        return zip(names, facts).flatMap { name, fact in
            GlyphText(fact.value).lines(width: width - column).enumerated().map { index, part in
                let shown = index == 0 ? name.shortened(toWidth: column - 2) : GlyphText("")
                var line = StyledLine(shown, .faint)
                line.append(String(repeating: " ", count: column - shown.width))
                line.append(part)
                return line
            }
        }
    }

    private static func payload(_ details: MQTTChuckDetails, _ view: PayloadView, _ width: Int) -> [StyledLine] {
        guard let size = details.row.payloadSize, !details.payload.isEmpty else {
            let bytes = PayloadView.hexLines(of: details, 0..<PayloadView.byteLimit, width: width)
            return [StyledLine("The whole packet, \(details.row.size) bytes", .faint)] + bytes.map { StyledLine($0) }
        }
        var heading = StyledLine("payload, \(size) bytes ", .faint)
        for choice in PayloadView.allCases {
            heading.append(" ")
            heading.append(" \(choice.rawValue) ", choice == view ? .reversed : .faint)
        }
        var lines = [heading]
        if let shown = view.lines(of: details, width: width) {
            lines += shown.map { StyledLine($0) }
        } else {
            lines += wrapped("The payload is not \(view.rawValue).", width, .faint)
        }
        if size > min(details.payload.count, PayloadView.byteLimit) {
            lines += wrapped(
                "… \(size - min(details.payload.count, PayloadView.byteLimit)) more bytes", width, .faint)
        }
        return lines
    }

    private static func wrapped(_ text: String, _ width: Int, _ style: TextStyle) -> [StyledLine] {
        GlyphText(text).lines(width: width).map { StyledLine($0, style) }
    }
}
