import Glibc

/// How many characters fit on a terminal.
struct TerminalSize: Hashable, Sendable {
    /// The most columns or rows that are drawn; a terminal that claims more is used in part.
    static let maximum = 1_000
    /// What is drawn where the terminal does not say its size.
    static let usual = TerminalSize(columns: 80, rows: 24)

    let columns: Int
    let rows: Int

    /// Names a size; at least one character, at most ``maximum`` each way.
    init(columns: Int, rows: Int) {
        self.columns = min(max(1, columns), Self.maximum)
        self.rows = min(max(1, rows), Self.maximum)
    }

    /// What the terminal of a descriptor says.
    init(of descriptor: Int32) {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            self = .usual
            return
        }
        self.init(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }
}
