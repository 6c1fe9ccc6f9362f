/// The colors of an alert, shown in a terminal as the background of a text.
enum AlertColor: String {
    case black, red, green, yellow, blue, magenta, cyan, white

    /// Creates a color from its name. An unknown name becomes red.
    init(_ name: String) { self = AlertColor(rawValue: name.lowercased()) ?? .red }

    /// The escape sequence that sets this background color, and a text color that is readable on it.
    var escapeSequence: String {
        let (background, text) =
            switch self {
            case .black: (40, 97)
            case .red: (41, 97)
            case .green: (42, 30)
            case .yellow: (43, 30)
            case .blue: (44, 97)
            case .magenta: (45, 97)
            case .cyan: (46, 30)
            case .white: (107, 30)
            }
        return "\u{1B}[\(background);\(text)m"
    }
}
