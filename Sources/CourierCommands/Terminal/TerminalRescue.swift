import Glibc

/// Gives the terminal back when the program crashes or is told to (SIGQUIT), which nothing else could do then.
enum TerminalRescue {
    /// What a handler of signals needs, in memory that stays.
    private struct Belongings {
        var output: Int32
        var input: Int32
        var modes: termios
        var text: UnsafeMutableBufferPointer<UInt8>
        var isNeeded: Bool
    }

    private static let crashes = [SIGQUIT, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE]

    /// Safe: it is set once, under the lock of a global's first use and before a handler is there that reads it; what it
    /// points to changes on the queue of the one screen of the process, and a handler, for which the program stands still
    /// in its last moment, at worst writes a sequence that changes nothing.
    private nonisolated(unsafe) static let belongings: UnsafeMutablePointer<Belongings> = {
        let text = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: FramePainter.closing.utf8.count)
        _ = text.initialize(from: FramePainter.closing.utf8)
        let place = UnsafeMutablePointer<Belongings>.allocate(capacity: 1)
        place.initialize(to: Belongings(output: -1, input: -1, modes: termios(), text: text, isNeeded: false))
        return place
    }()

    /// From now on a crash gives back this terminal.
    static func prepare(input: Int32, output: Int32, modes: termios) {
        belongings.pointee.output = output
        belongings.pointee.input = input
        belongings.pointee.modes = modes
        belongings.pointee.isNeeded = true
        for number in crashes {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { number in
                TerminalRescue.giveBack()
                // It waits until the handler has returned, and then ends the program as it always did.
                raise(number)
            }
            action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
            sigaction(number, &action, nil)
        }
    }

    /// The terminal was given back.
    static func dismiss() { belongings.pointee.isNeeded = false }

    /// Only what a handler of signals may do [POSIX.1-2017, 2.4.3].
    private static func giveBack() {
        guard belongings.pointee.isNeeded else { return }
        _ = write(belongings.pointee.output, belongings.pointee.text.baseAddress, belongings.pointee.text.count)
        tcsetattr(belongings.pointee.input, TCSANOW, &belongings.pointee.modes)
    }
}
