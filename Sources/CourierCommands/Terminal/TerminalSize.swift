#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The number of columns and rows of a terminal.
struct TerminalSize: Hashable, Sendable {
    /// The maximum number of columns and of rows. In a larger terminal, only this part is used.
    static let maximum = 1_000
    /// The size that is used if the terminal does not report one.
    static let usual = TerminalSize(columns: 80, rows: 24)

    let columns: Int
    let rows: Int

    /// Creates a size. Each value is limited to the range from 1 to ``maximum``.
    init(columns: Int, rows: Int) {
        self.columns = min(max(1, columns), Self.maximum)
        self.rows = min(max(1, rows), Self.maximum)
    }

    /// Reads the size of the terminal that this file descriptor belongs to.
    init(of descriptor: Int32) {
        var size = winsize()
        guard Self.read(descriptor, &size), size.ws_col > 0, size.ws_row > 0 else {
            self = .usual
            return
        }
        self.init(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    private static func read(_ descriptor: Int32, _ size: inout winsize) -> Bool {
        #if canImport(Musl)
            return ioctl(descriptor, Int32(TIOCGWINSZ), &size) == 0
        #else
            return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0
        #endif
    }
}
